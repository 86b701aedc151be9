// One import for users.
@_exported public import ErrandAuthentication
@_exported public import ErrandCaching
@_exported public import ErrandClient
@_exported public import ErrandDownloads
@_exported public import ErrandEngine
@_exported public import ErrandEvents
@_exported public import ErrandGroups
@_exported public import ErrandLogging
@_exported public import ErrandModel
