-- What generators.py reads. Only done() is defined, so that no request runs Lua.
local percentiles = {
  0, 10, 20, 30, 40, 50, 60, 70, 75, 80, 85, 90, 92.5, 95, 97.5, 98, 99, 99.5, 99.9, 99.95, 99.99, 100,
}

done = function(summary, latency)
  local errors = summary.errors
  local lost = errors.connect + errors.read + errors.write + errors.timeout
  io.write(string.format(
    '\nresult {"requests": %d, "errors": %d, "refused": %d, "microseconds": %d, "min": %d, "mean": %f, "spectrum": [',
    summary.requests, lost, errors.status, summary.duration, latency.min, latency.mean))
  for index, percentile in ipairs(percentiles) do
    -- 0 and 100 are not in its table.
    local value = percentile == 0 and latency.min or percentile == 100 and latency.max
      or latency:percentile(percentile)
    io.write(string.format('%s[%s, %d]', index > 1 and ', ' or '', percentile, value))
  end
  io.write(']}\n')
end
