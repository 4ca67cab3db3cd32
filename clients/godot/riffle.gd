class_name Riffle
extends Node
## A client of the Riffle shuffle service in one file, for game servers in Godot 4.
##
## Add it to the scene of the server, and await its calls:
## [codeblock]
## var riffle := Riffle.new("http://localhost:8080", "rfl_...")
## add_child(riffle)
## var deal := await riffle.deal("standard52", "holdem:6", {"reference": "table 4, round 9"})
## if deal.has("problem"):
##     push_error(deal.problem.detail)
## else:
##     print(deal.hands[0])
##     await riffle.reveal(deal.audit_id, deal.seed) # the game is over
##     var proof := await riffle.proof(deal.audit_id)
## [/codeblock]
## A call returns the answer, or a dictionary with the problem alone, which has status, title and detail; status 0 says that there was no
## answer. A request that writes has an idempotency key, its own unless you give one, and is repeated with it while the service is busy or
## silent, so that it deals once. Give a key that you have stored to get the same cards after a crash.
##
## The seed in an answer shows every card. Keep it, and this client, on the server. Godot reads every number as a float: send ids of items
## as strings.

## For how many seconds a request is repeated.
var patience := 60.0
## For how many seconds an attempt may take.
var timeout := 60.0

var _url: String
var _token: String


## The URL may have a path, where a proxy has one.
func _init(url := "http://localhost:8080", token := "") -> void:
	_url = url.trim_suffix("/")
	_token = token


## Shuffles what the request names: {"items": [...]}, {"deck": "uno108"} or {"size": 10}, with draw, hands, reference and so on.
func shuffle(request: Dictionary, key := "") -> Dictionary:
	return await _post("/shuffle", request, key)


## Deals a game that the deck has, such as "doudizhu" or "holdem:6", or hands of sizes, [5, 5]. The answer has hands and rest.
func deal(deck: String, hands: Variant, more := {}, key := "") -> Dictionary:
	var request := {"deck": deck, "hands": hands}
	request.merge(more)
	return await shuffle(request, key)


## Makes a seed public when its game is over, for everybody to check the deal.
func reveal(audit_id: String, seed: String) -> Dictionary:
	return await _post("/audits/%s/reveal" % audit_id, {"seed": seed}, "")


## Returns the text of the proof file, which players check with riffle verify, a verifier or the page of the service. It is empty if there
## is none.
func proof(audit_id: String) -> String:
	var answer := await _call(HTTPClient.METHOD_GET, "/audits/%s/proof" % audit_id, "", PackedStringArray())
	return answer.text if answer.status == 200 else ""


func _post(path: String, body: Dictionary, key: String) -> Dictionary:
	if key.is_empty():
		key = Crypto.new().generate_random_bytes(16).hex_encode()
	var headers := PackedStringArray(["Content-Type: application/json", "Idempotency-Key: " + key])
	var answer := await _call(HTTPClient.METHOD_POST, path, JSON.stringify(body), headers)
	var parsed: Variant = JSON.parse_string(answer.text)
	if answer.status == 200 and parsed is Dictionary:
		return parsed
	if parsed is Dictionary and parsed.has("detail"):
		return {"problem": parsed}
	return {"problem": {"status": answer.status, "title": "no answer of the service", "detail": answer.text.left(200)}}


func _call(method: HTTPClient.Method, path: String, body: String, headers: PackedStringArray) -> Dictionary:
	if not _token.is_empty():
		headers.append("Authorization: Bearer " + _token)
	var deadline := Time.get_ticks_msec() + 1000.0 * patience
	var backoff := 0.1
	while true:
		var request := HTTPRequest.new()
		request.timeout = timeout
		add_child(request)
		var status := 0
		var text := "the request could not be sent"
		var retry_after := -1.0
		if request.request(_url + path, headers, method, body) == OK:
			var completed: Array = await request.request_completed
			text = "the service cannot be reached: result %d of HTTPRequest" % completed[0]
			if completed[0] == HTTPRequest.RESULT_SUCCESS:
				status = completed[1]
				text = completed[3].get_string_from_utf8()
				for header: String in completed[2]:
					if header.to_lower().begins_with("retry-after:"):
						retry_after = header.get_slice(":", 1).to_float()
		request.queue_free()
		var goes_away := status in [0, 429, 500, 502, 503, 504] or (status == 409 and retry_after >= 0)
		var wait := maxf(backoff, retry_after)
		if not goes_away or Time.get_ticks_msec() + 1000.0 * wait > deadline:
			return {"status": status, "text": text}
		await get_tree().create_timer(wait).timeout
		backoff = minf(2 * backoff, 5)
	return {} # not reached
