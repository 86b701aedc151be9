-- What generators.py reads. Only done() is defined, so that no request runs Lua.
done = function(summary, latency)
  local errors = summary.errors
  local lost = errors.connect + errors.read + errors.write + errors.timeout
  io.write(string.format(
    '\nresult {"requests": %d, "errors": %d, "refused": %d, "microseconds": %d, "min": %d, "max": %d}\n',
    summary.requests, lost, errors.status, summary.duration, latency.min, latency.max))
end
