// The public interface of this module uses types of the modules below it.
@_exported public import ErrandModel
