"""Writes the parts of the client that follow from openapi.yaml: types.py, a type for each schema,
and operations.py, a method for each operation, once plain and once for asyncio.

    python3 clients/python/generate.py [FOLDER]
"""

import json
import re
import sys
from pathlib import Path

import yaml

HERE = Path(__file__).parent
CONTRACT = yaml.safe_load((HERE / "../../openapi.yaml").read_text(encoding="utf-8"))
KEYWORDS = ["from"]  # names of the contract that Python does not allow


def module(doc: str, body: str, names: list[str]) -> str:
    """The text of a module, with imports of the names that occur in its body."""
    imports = ""
    for source in ("collections.abc", "typing"):
        used = [n for n in names if (source == "typing") != n.endswith("Iterator") and re.search(rf"\b{n}\b", body)]
        if used:
            imports += f"from {source} import {', '.join(used)}\n"
    return (
        f'"""{doc}\n\nGenerated from openapi.yaml by clients/python/generate.py. Do not edit.\n"""\n\n'
        f"from __future__ import annotations\n\n{imports}{body}"
    )


def quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def resolve(part: dict) -> dict:
    """The part, or the one that its $ref names."""
    while "$ref" in part:
        names = part["$ref"].removeprefix("#/").split("/")
        part = CONTRACT
        for name in names:
            part = part[name]
    return part


def union(kinds: list[str]) -> str:
    return kinds[0] if len(kinds) == 1 else f"Union[{', '.join(kinds)}]"


def type_of(schema: dict) -> str:
    """The Python type of a schema."""
    if "$ref" in schema:
        return schema["$ref"].rpartition("/")[2]
    if "allOf" in schema:  # the rest narrows the first
        return type_of(schema["allOf"][0])
    if "enum" in schema or "const" in schema:
        return f"Literal[{', '.join(map(repr, schema.get('enum', [schema.get('const')])))}]"
    kinds = schema.get("type")
    for word in ("oneOf", "anyOf"):
        if word in schema and kinds is None:
            return f"Union[{', '.join(map(type_of, schema[word]))}]"
    kinds = [kinds] if isinstance(kinds, str) else kinds or []
    if len(kinds) in (0, 6):  # any JSON value
        return "Any"
    return union([type_named(kind, schema) for kind in kinds])


def type_named(kind: str, schema: dict) -> str:
    if kind == "array":
        return f"list[{type_of(schema['items'])}]"
    if kind == "object":
        element = schema.get("additionalProperties")
        return f"dict[str, {type_of(element) if isinstance(element, dict) else 'Any'}]"
    return {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}[kind]


def docstring(text: str) -> str:
    text = text.strip().replace("\\", "\\\\").replace("\n", "\n    ").replace("\n    \n", "\n\n")
    if "\n" in text:
        text += "\n    "
    elif text.endswith('"'):
        text += " "
    return f'"""{text}"""'


def types() -> str:
    """types.py: objects are classes, and every other schema is an alias."""
    classes = aliases = ""
    for name, schema in CONTRACT["components"]["schemas"].items():
        members = schema.get("properties")
        if members is None:
            aliases += f"\n{name}: TypeAlias = {quoted(type_of(schema))}\n"
            continue
        required = schema.get("required", [])
        if any(word in members for word in KEYWORDS):
            aliases += f"\n{name} = TypedDict(\n    {quoted(name)},\n    {{\n"
            for member, s in members.items():
                aliases += f"        {quoted(member)}: {'Required' if member in required else 'NotRequired'}[{quoted(type_of(s))}],\n"
            aliases += "    },\n)\n"
            continue
        classes += f"\n\nclass {name}(TypedDict):\n"
        if "description" in schema:
            classes += f"    {docstring(schema['description'])}\n\n"
        for member, s in members.items():
            kind = type_of(s)
            classes += f"    {member}: {kind if member in required else f'NotRequired[{kind}]'}\n"
            if "description" in s:
                classes += f"    {docstring(s['description'])}\n"
    names = ["Any", "Literal", "NotRequired", "Required", "TypeAlias", "TypedDict", "Union"]
    return module("The types of requests and answers.", f"{classes}\n{aliases}", names)


def qualified(kind: str) -> str:
    """The type with t. in front of the names of schemas."""
    return re.sub(r"\b(?!(?:Any|Union|Literal|None)\b)[A-Z]\w*\b", r"t.\g<0>", kind)


def method_of(verb: str, path: str, methods: dict, operation: dict) -> dict:
    """A method: the ids in the path, then the body, and the rest by name."""
    parameters, named, arguments = [], [], []
    query, headers = [], []
    place = quoted(path)
    for p in map(resolve, methods.get("parameters", []) + operation.get("parameters", [])):
        member, kind = p["name"], qualified(type_of(p["schema"]))
        if member == "format":  # its answer is text, for people
            continue
        argument = member.removesuffix("[]").replace("-", "_").lower()
        argument += "_" if argument in KEYWORDS else ""
        if p["in"] == "path":
            parameters.append(f"{argument}: str")
            place = "f" + place.removeprefix("f").replace(f"{{{member}}}", f"{{_path({argument})}}")
            continue
        named.append(f"{argument}: {kind}" if p.get("required") else f"{argument}: {kind} | None = None")
        if p["in"] == "header":
            headers.append(f"{quoted(member)}: {argument}")
        elif p.get("explode"):  # each member is a parameter of its own
            query.append(f"**({argument} or {{}})")
        else:
            query.append(f"{quoted(member)}: {argument}")
    if "requestBody" in operation:
        body = resolve(operation["requestBody"])["content"]["application/json"]["schema"]
        parameters.append(f"request: {qualified(type_of(body))}")
        arguments.append("body=request")
    if query:
        arguments.append(f"query={{{', '.join(query)}}}")
    if headers:
        arguments.append(f"headers={{{', '.join(headers)}}}")
    answer, pages = "str", None
    for media, content in resolve(operation["responses"]["200"]).get("content", {}).items():
        if media == "application/json":
            answer = qualified(type_of(content["schema"]))
            members = resolve(content["schema"]).get("properties", {})
            if "next" in members:  # a page of a list
                listed = next(m for m, schema in members.items() if schema.get("type") == "array")
                pages = listed, qualified(type_of(members[listed]["items"]))
        elif media in ("application/octet-stream", "image/png"):
            answer = "bytes"
    name = re.sub("([A-Z])", r"_\1", operation["operationId"]).lower()
    return {
        "name": name,
        "parameters": ", ".join(["self", *parameters, *(["*"] if named else []), *named]),
        "arguments": ", ".join([quoted(name), quoted(verb.upper()), place, *arguments]),
        "summary": operation.get("summary", "") + ".",
        "answer": answer,
        "pages": pages,
        "named": [n.split(":")[0] for n in parameters + named],
    }


def paged(m: dict, a_sync: str, a_wait: str, iterator: str) -> str:
    """The method that goes through all pages of a list. `next` of a page is the cursor of the following one."""
    listed, kind = m["pages"]
    cursor = "after" if "after" in m["named"] else "from_"
    passed = ", ".join(f"{name}={name}" for name in m["named"])
    each = f"            for each in page[{quoted(listed)}]:\n                yield each\n"
    return (
        f"\n    {a_sync}def all_{listed}({m['parameters']}) -> {iterator}[{kind}]:\n"
        f'        """{m["summary"][:-1]}, page after page, each of at most `limit`."""\n'
        f"        while True:\n            page = {a_wait}self.{m['name']}({passed})\n{each}"
        f"            if page[\"next\"] is None:\n                return\n            {cursor} = page[\"next\"]\n"
    )


def operations() -> str:
    """operations.py."""
    every = [
        method_of(verb, path, methods, o)
        for path, methods in CONTRACT["paths"].items()
        for verb, o in methods.items()
        if isinstance(o, dict) and "operationId" in o
    ]
    text = 'from urllib.parse import quote\n\nfrom . import types as t\n\n\ndef _path(value: str) -> str:\n    return quote(value, safe="")\n'
    for name, doc, a_sync, a_wait, iterator in (
        ("Operations", "The operations. Each waits for its answer.", "", "", "Iterator"),
        ("AsyncOperations", "The operations for asyncio.", "async ", "await ", "AsyncIterator"),
    ):
        text += (
            f'\n\nclass {name}:\n    """{doc}"""\n\n'
            f"    {a_sync}def _call(self, operation: str, method: str, path: str, **parts: Any) -> Any:\n        raise NotImplementedError\n"
        )
        for m in every:
            text += (
                f'\n    {a_sync}def {m["name"]}({m["parameters"]}) -> {m["answer"]}:\n        """{m["summary"]}"""\n'
                f"        answer: {m['answer']} = {a_wait}self._call({m['arguments']})\n        return answer\n"
            )
            if m["pages"]:
                text += paged(m, a_sync, a_wait, iterator)
    return module("A method for each operation of the service.", text, ["AsyncIterator", "Iterator", "Any", "Literal", "Union"])


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "riffle"
    (folder / "types.py").write_text(types(), encoding="utf-8")
    (folder / "operations.py").write_text(operations(), encoding="utf-8")
