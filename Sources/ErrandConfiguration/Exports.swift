// The keys are in a target without dependencies, because the tool shows them.
@_exported public import ErrandConfigurationKeys
