-- Plays a game against the service at RIFFLE_URL, which go test ./clients starts, behind a proxy that loses answers.
local Riffle = require("riffle")
local url, token = os.getenv("RIFFLE_URL"), os.getenv("RIFFLE_TOKEN_TABLE")

local function must(answer, problem)
  return assert(answer, problem and problem.detail)
end

local riffle = Riffle.new(url, {token = token})
local key = "lua-" .. os.time()
local deal = must(riffle:deal("standard52", "holdem:6", {reference = "table 4"}, key))
assert(#deal.hands == 12 and #deal.hands[1] == 2 and #deal.rest == 32)
local again = must(riffle:deal("standard52", "holdem:6", {reference = "table 4"}, key))
assert(again.audit_id == deal.audit_id and again.hands[1][1] == deal.hands[1][1], "the same key dealt other cards")

local revealed = must(riffle:reveal(deal.audit_id, deal.seed))
assert(revealed.revealed == true)
local proof = must(riffle:proof(deal.audit_id))
assert(proof:find(deal.seed, 1, true), "the proof has no seed")
assert(#must(riffle:shuffle({items = {"ann", "bob", "cyn"}, draw = 1})).items == 1)

-- The proxy answers 503 and 429 with Retry-After, loses an answer and fails, and demands the same key and body each time.
local faulty = Riffle.new(url .. "/faults/lua-" .. os.time() .. "/busy,share,lost,badgateway", {token = token})
assert(#must(faulty:deal("standard54", "doudizhu")).hands == 3)

local none, problem = riffle:deal("standard53", "doudizhu")
assert(none == nil and problem.status == 422 and problem.errors[1].pointer == "/deck")
none, problem = Riffle.new("http://localhost:1", {patience = 0}):proof(deal.audit_id)
assert(none == nil and problem.status == 0, "no service is no answer")

-- What the service says as it gives up is kept, and what others answer in its place is a problem too.
for text, want in pairs({['{"status":503,"title":"busy","detail":"come back"}'] = "come back", ["<h1>Log in</h1>"] = "<h1>Log in</h1>"}) do
  for _, status in ipairs({503, 200}) do
    local other = Riffle.new(url, {patience = 0, send = function() return status, text, {} end})
    none, problem = other:shuffle({size = 2})
    assert(status == 200 and none and none.detail == want or none == nil and problem.detail == want and problem.status == status, text)
  end
end
assert(not pcall(Riffle.new, "localhost:8080"), "a URL without a scheme is a mistake at once")
print("dealt, repeated, revealed and proven")
