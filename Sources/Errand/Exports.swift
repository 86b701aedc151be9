// One import for users. HTTPTypes has the names of methods and header fields, which commands use.
@_exported public import ErrandAuthentication
@_exported public import ErrandCaching
@_exported public import ErrandClient
@_exported public import ErrandDownloads
@_exported public import ErrandEngine
@_exported public import ErrandEvents
@_exported public import ErrandGroups
@_exported public import ErrandLogging
@_exported public import ErrandModel
@_exported public import ErrandResilience
@_exported public import HTTPTypes
