-- Sends one request over and over, and prints what came of it as one line of JSON.
-- wrk -s load.lua URL -- METHOD [BODY] [MILLISECONDS between two requests of a connection]

local pause

function init(args)
  wrk.method = args[1] or "GET"
  if args[2] ~= "" then wrk.body = args[2] end
  pause = tonumber(args[3])
  if pause then
    -- Each connection sends at its own random moments, so that they do not come together.
    delay = function() return math.floor(2 * pause * math.random() + 0.5) end
  end
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
