--- A client of the Riffle shuffle service in one file, for the backends of games in Lua 5.1 to 5.4 and LuaJIT.
--
--   local riffle = require("riffle").new("http://localhost:8080", {token = "rfl_..."})
--   local deal, problem = riffle:deal("standard52", "holdem:6", {reference = "table 4, round 9"})
--   if not deal then error(problem.detail) end
--   print(table.concat(deal.hands[1], " "))
--   riffle:reveal(deal.audit_id, deal.seed)  -- the game is over
--   save("proof.json", riffle:proof(deal.audit_id))
--
-- A call returns the answer, or nil and the problem: a table with status, title and detail; status 0 says that there was no answer. A
-- request that writes has an idempotency key, its own unless you give one, and is repeated with it while the service is busy or silent,
-- so that it deals once. Give a key that you have stored to get the same cards after a crash.
--
-- The seed in an answer shows every card. Keep it, and this client, in your backend.
--
-- The options are token; patience, the seconds for which a request is repeated (60); timeout, the seconds for which the service may be
-- silent (60); json, a module with encode and decode (cjson or dkjson if they are there); and send, which sends a request:
-- send(method, url, headers, body, timeout) returns status, body and headers with names in lower case, or nil and the error. Without it
-- that is LuaSocket, with LuaSec for https.
local Riffle = {}
Riffle.__index = Riffle

local function first(...)
  for _, name in ipairs({...}) do
    local found, module = pcall(require, name)
    if found then return module end
  end
  error("riffle.lua: none of these modules is installed: " .. table.concat({...}, ", "), 0)
end

local function send(method, url, headers, body, timeout)
  local http, ltn12 = require(url:match("^https:") and "ssl.https" or "socket.http"), require("ltn12")
  http.TIMEOUT = timeout
  local parts = {}
  local done, status, fields = http.request({
    method = method, url = url, headers = headers, source = body and ltn12.source.string(body), sink = ltn12.sink.table(parts),
  })
  if not done then return nil, status end
  return status, table.concat(parts), fields
end

local function sleep(seconds)
  require("socket").sleep(seconds)
end

-- 128 random bits. math.random would not do: whoever guesses a key gets the cards.
local function random_key()
  local file = io.open("/dev/urandom", "rb")
  if not file then error("riffle.lua: this system has no /dev/urandom, so give each call a key of your own", 0) end
  local bytes = file:read(16)
  file:close()
  return (bytes:gsub(".", function(byte) return ("%02x"):format(byte:byte()) end))
end

--- A client of the service at the URL, which may have a path, where a proxy has one.
function Riffle.new(url, options)
  options = options or {}
  if not url:match("^https?://") then error("riffle.lua: the URL is " .. url .. ", and has to begin with http:// or https://", 2) end
  return setmetatable({
    url = url:gsub("/$", ""), token = options.token, patience = options.patience or 60, timeout = options.timeout or 60,
    json = options.json or first("cjson", "dkjson"), send = options.send or send, sleep = options.sleep or sleep,
  }, Riffle)
end

-- The problem in an answer that is none, or made of it.
local function problem_of(json, status, text)
  local parsed, problem = pcall(json.decode, text)
  if parsed and type(problem) == "table" and problem.detail then return problem end
  return {status = status, title = "no answer of the service", detail = text:sub(1, 200)}
end

local GOES_AWAY = {[429] = true, [500] = true, [502] = true, [503] = true, [504] = true}

function Riffle:call(method, path, body, key)
  local headers = {["Authorization"] = self.token and "Bearer " .. self.token}
  if body then
    body = self.json.encode(body)
    headers["Content-Type"], headers["Content-Length"] = "application/json", tostring(#body)
    headers["Idempotency-Key"] = key or random_key()
  end
  local deadline, backoff = os.time() + self.patience, 0.1
  while true do
    local status, text, fields = self.send(method, self.url .. path, headers, body, self.timeout)
    local retry_after = status and tonumber(fields["retry-after"])
    if status and not GOES_AWAY[status] and not (status == 409 and retry_after) then
      if status == 200 then return text end
      return nil, problem_of(self.json, status, text)
    end
    local wait = math.max(backoff, retry_after or 0)
    if os.time() + wait > deadline then
      if status then return nil, problem_of(self.json, status, text) end
      return nil, {status = 0, title = "no answer", detail = tostring(text)}
    end
    self.sleep(wait)
    backoff = math.min(2 * backoff, 5)
  end
end

function Riffle:post(path, body, key)
  local text, problem = self:call("POST", path, body, key)
  if not text then return nil, problem end
  local parsed, answer = pcall(self.json.decode, text)
  if parsed and type(answer) == "table" then return answer end
  return nil, problem_of(self.json, 200, text)
end

--- Shuffles what the request names: {items = {...}}, {deck = "uno108"} or {size = 10}, with draw, hands, reference and so on.
function Riffle:shuffle(request, key)
  return self:post("/shuffle", request, key)
end

--- Deals a game that the deck has, such as "doudizhu" or "holdem:6", or hands of sizes, {5, 5}. The answer has hands and rest.
function Riffle:deal(deck, hands, more, key)
  local request = {deck = deck, hands = hands}
  for name, value in pairs(more or {}) do request[name] = value end
  return self:shuffle(request, key)
end

--- Makes a seed public when its game is over, for everybody to check the deal.
function Riffle:reveal(audit_id, seed)
  return self:post("/audits/" .. audit_id .. "/reveal", {seed = seed})
end

--- Returns the text of the proof file, which players check with `riffle verify`, a verifier or the page of the service.
function Riffle:proof(audit_id)
  return self:call("GET", "/audits/" .. audit_id .. "/proof")
end

return Riffle
