// The public interface of this module uses the modules below it.
@_exported public import ErrandModel
