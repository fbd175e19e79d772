"""A check for Schemathesis (test_schemathesis.py): what the OpenAPI document forbids is refused, except the two
spellings that every reader of ours takes and the document does not offer (src/wire/schema.h): null for a
value that may be absent, and an amount of credits in quotes."""
import re

import jsonschema_rs
import schemathesis
from schemathesis.specs.openapi.checks import negative_data_rejection

AMOUNT = re.compile(r"-?[0-9]+(\.[0-9]{1,6})?")


def as_read(value, schema, document):
    """`value` in the spelling of the document."""
    if "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
    if isinstance(value, list) and "items" in schema:
        return [as_read(item, schema["items"], document) for item in value]
    if isinstance(value, dict) and "properties" in schema:
        known, required = schema["properties"], schema.get("required", [])
        return {key: as_read(item, known.get(key, {}), document) for key, item in value.items()
                if item is not None or key in required or key not in known}
    if isinstance(value, str) and schema.get("description", "").startswith("Credits"):
        return float(value) if AMOUNT.fullmatch(value) else value
    return value


def only_tolerated(case):
    """Is the body wrong, and right once read?"""
    document = case.operation.schema.raw_schema
    operation = document["paths"][case.operation.path][case.operation.method.lower()]
    content = operation.get("requestBody", {}).get("content", {})
    schema = content.get("application/json", {}).get("schema")
    if schema is None:
        return False
    read = as_read(case.body, schema, document)
    return read != case.body and jsonschema_rs.is_valid({**schema, "components": document["components"]}, read)


@schemathesis.check
def forbidden_is_refused(ctx, response, case):
    return None if only_tolerated(case) else negative_data_rejection(ctx, response, case)
