-- Sends one request over and over, and prints what came of it as one line of JSON.
-- wrk -s load.lua URL -- METHOD [BODY]

function init(args)
  wrk.method = args[1] or "GET"
  wrk.body = args[2]
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '{"requests":%d,"microseconds":%d,"p50":%d,"p99":%d,"longest":%d,' ..
    '"connect":%d,"read":%d,"write":%d,"timeout":%d,"status":%d}\n',
    summary.requests, summary.duration,
    latency:percentile(50), latency:percentile(99), latency.max,
    errors.connect, errors.read, errors.write, errors.timeout, errors.status
  ))
end
