/// Every name of YTKNetwork 3.0.6 that a program can see, and the rules that its documents or its code promise.
enum YTKNetworkNames {
    static let all: [String] =
        constants
        + protocols
        + readable
        + settable
        + actions
        + overridable
        + cache
        + configuration
        + agent
        + batch
        + chain
        + jsonValidator

    private static let constants = [
        "YTKBaseRequest", "YTKRequest",
        "YTKRequestMethod", "YTKRequestMethodGET", "YTKRequestMethodPOST", "YTKRequestMethodHEAD",
        "YTKRequestMethodPUT", "YTKRequestMethodDELETE", "YTKRequestMethodPATCH", "YTKRequestSerializerType",
        "YTKRequestSerializerTypeHTTP", "YTKRequestSerializerTypeJSON", "YTKResponseSerializerType",
        "YTKResponseSerializerTypeHTTP", "YTKResponseSerializerTypeJSON", "YTKResponseSerializerTypeXMLParser",
        "YTKRequestPriority", "YTKRequestPriorityLow", "YTKRequestPriorityDefault", "YTKRequestPriorityHigh",
        "YTKRequestValidationErrorDomain", "YTKRequestValidationErrorInvalidStatusCode",
        "YTKRequestValidationErrorInvalidJSONFormat", "YTKRequestCacheErrorDomain", "YTKRequestCacheErrorExpired",
        "YTKRequestCacheErrorVersionMismatch", "YTKRequestCacheErrorSensitiveDataMismatch",
        "YTKRequestCacheErrorAppVersionMismatch", "YTKRequestCacheErrorInvalidCacheTime",
        "YTKRequestCacheErrorInvalidMetadata", "YTKRequestCacheErrorInvalidCacheData", "NSURLErrorDomain",
        "NSURLErrorCancelled", "com.alamofire.error.serialization.response",
        "com.alamofire.error.serialization.request", "NSCocoaErrorDomain", "AFConstructingBlock",
        "AFURLSessionTaskProgressBlock", "YTKRequestCompletionBlock", "YTKChainCallback",
        "AFURLSessionTaskDidFinishCollectingMetricsBlock",
    ]

    private static let protocols = [
        "YTKRequestDelegate", "requestFinished:", "requestFailed:", "YTKRequestAccessory", "requestWillStart:",
        "requestWillStop:", "requestDidStop:", "YTKBatchRequestDelegate", "batchRequestFinished:",
        "batchRequestFailed:", "YTKChainRequestDelegate", "chainRequestFinished:",
        "chainRequestFailed:failedBaseRequest:", "YTKUrlFilterProtocol", "filterUrl:withRequest:",
        "YTKCacheDirPathFilterProtocol", "filterCacheDirPath:withRequest:",
    ]

    private static let readable = [
        "requestTask", "currentRequest", "originalRequest", "response", "responseStatusCode", "responseHeaders",
        "responseData", "responseString", "responseObject", "responseJSONObject", "error", "cancelled", "executing",
    ]

    private static let settable = [
        "tag", "userInfo", "delegate", "successCompletionBlock", "failureCompletionBlock", "requestAccessories",
        "constructingBodyBlock", "resumableDownloadPath", "resumableDownloadProgressBlock", "uploadProgressBlock",
        "requestPriority", "setCompletionBlockWithSuccess:failure:", "clearCompletionBlock", "addAccessory:",
    ]

    private static let actions = [
        "start", "startWithCompletionBlockWithSuccess:failure:", "stop",
        "startWithWillStart:willStop:success:failure:didStop:", "YTKRequestEventAccessory", "requestTask.cancel",
    ]

    private static let overridable = [
        "requestUrl", "baseUrl", "cdnUrl", "useCDN", "requestMethod", "requestArgument", "requestSerializerType",
        "responseSerializerType", "requestTimeoutInterval", "allowsCellularAccess",
        "requestAuthorizationHeaderFieldArray", "requestHeaderFieldValueDictionary", "buildCustomUrlRequest",
        "statusCodeValidator", "jsonValidator", "requestCompletePreprocessor", "requestCompleteFilter",
        "requestFailedPreprocessor", "requestFailedFilter", "cacheFileNameFilterForRequestArgument:", "description",
    ]

    private static let cache = [
        "ignoreCache", "isDataFromCache", "startWithoutCache", "loadCacheWithError:", "saveResponseDataToCacheFile:",
        "cacheTimeInSeconds", "cacheVersion", "cacheSensitiveData", "writeCacheAsynchronously",
        "cache rule: a hit is reported like a success, later and on the main queue",
        "cache rule: only successes that were validated are saved, downloads never",
        "cache rule: method, host, path and arguments are the key",
        "cache rule: age, version, sensitive data and app version decide",
    ]

    private static let configuration = [
        "YTKNetworkConfig", "sharedConfig", "config.baseUrl", "config.cdnUrl", "urlFilters", "addUrlFilter:",
        "clearUrlFilter", "cacheDirPathFilters", "addCacheDirPathFilter:", "clearCacheDirPathFilter",
        "securityPolicy", "debugLogEnabled", "sessionConfiguration", "collectingMetricsBlock",
        "rule: base URL, CDN and filters are read for each request",
    ]

    private static let agent = [
        "YTKNetworkAgent", "sharedAgent", "addRequest:", "cancelRequest:", "cancelAllRequests", "buildRequestUrl:",
        "URL rule: an absolute URL is taken as it is", "URL rule: filters in order, each fed by the one before",
        "URL rule: the CDN does not fall back to the base URL", "URL rule: a base URL gets a slash at its end",
        "URL rule: a relative URL is resolved by RFC 3986", "URL rule: 1.x appends to the base's path",
        "method rule: arguments of GET, HEAD, DELETE go to the query",
        "method rule: arguments of others go to the body", "method rule: multipart with POST and PUT",
        "method rule: arguments become parts before the block's", "order rule: a request that cannot be built fails",
        "order rule: network, serialization, status, JSON error",
        "order rule: JSON is taken from three content types", "order rule: XML is taken from two content types",
        "order rule: an empty body or a space is no JSON error",
        "order rule: preprocessor, willStop, filter, delegate, closure, didStop",
        "order rule: a stopped request's completion is ignored", "rule: a running request is kept alive",
        "rule: responses are parsed off the main queue", "rule: resumable downloads", "rule: background downloads",
    ]

    private static let batch = [
        "YTKBatchRequest", "initWithRequestArray:", "batch.requestArray", "batch.delegate",
        "batch.successCompletionBlock", "batch.failureCompletionBlock", "batch.tag", "batch.requestAccessories",
        "failedRequest", "batch.setCompletionBlockWithSuccess:failure:", "batch.clearCompletionBlock",
        "batch.addAccessory:", "batch.start", "batch.stop", "batch.startWithCompletionBlockWithSuccess:failure:",
        "batch.startWithWillStart:willStop:success:failure:didStop:", "batch.isDataFromCache", "YTKBatchRequestAgent",
        "addBatchRequest:", "removeBatchRequest:", "batch rule: one with a child that has finished is refused",
        "batch rule: children lose their delegate and closures", "batch rule: the first failure stops every child",
        "batch rule: willStop, delegate, closure, didStop",
        "batch rule: a stop calls neither delegate nor closure",
        "batch rule: one that is released stops its children",
    ]

    private static let chain = [
        "YTKChainRequest", "chain.requestArray", "chain.delegate", "chain.requestAccessories", "chain.addAccessory:",
        "chain.start", "chain.stop", "addRequest:callback:", "YTKChainRequestAgent", "addChainRequest:",
        "removeChainRequest:", "chain rule: a start while it runs is refused", "chain rule: an empty one is refused",
        "chain rule: a step's callback comes before the next step",
        "chain rule: after a failure nothing is started", "chain rule: willStop, delegate, didStop",
        "chain rule: a stop stops the present step, without a callback",
    ]

    private static let jsonValidator = [
        "validateJSON:withValidator:", "JSON rule: every key of the validator is required",
        "JSON rule: other keys are allowed", "JSON rule: null passes for a member",
        "JSON rule: null fails for an element", "JSON rule: the first entry holds for all elements",
        "JSON rule: an empty validator array takes anything", "JSON rule: `NSString`", "JSON rule: `NSNumber`",
        "JSON rule: `NSDictionary`", "JSON rule: `NSArray`", "JSON rule: an empty array passes",
        "JSON rule: without JSON nothing is checked", "JSON rule: any other value is of the validator's class",
    ]
}
