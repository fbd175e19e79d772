"""python3 -m souk.model_server native | transformers MODEL --port N: a trained model behind a port.

What `souk serve-model` runs on leased machines. Standard library, and what the model itself needs.

  GET  /health               200 once the model is there
  POST /predict              one sample a line in, one answer a line out, as `souk predict`
  POST /v1/completions       and /v1/chat/completions, /v1/models: as OpenAI's API, for language models
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Protocol

MOST_BODY = 4 << 20
MOST_TOKENS = 4_096
_ROLES = ("system", "user", "assistant")


class BadRequest(Exception):
    """What the caller sent makes no sense; the text says why."""


class Model(Protocol):
    """What answers."""

    name: str

    def predict(self, lines: list[str]) -> list[str]: ...

    def complete(self, prompt: str, tokens: int, temperature: float, seed: int) -> str: ...


class NativeModel:
    """A model of the native trainer: a program that reads and writes a line for each sample."""

    name = "native"

    def __init__(self, folder: Path) -> None:
        program = os.environ.get("SOUK_TORCH", "souk-torch")
        self._process = subprocess.Popen(
            [program, "predict", "--config", str(folder / "trainer.json"), "--model",
             str(folder / "model.safetensors")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._turn = threading.Lock()

    def predict(self, lines: list[str]) -> list[str]:
        with self._turn:
            answers = []
            assert self._process.stdin is not None and self._process.stdout is not None
            for line in lines:
                self._process.stdin.write(line + "\n")
                self._process.stdin.flush()
                answer = self._process.stdout.readline()
                if not answer:
                    # Another copy of this service goes on; this one is started anew.
                    os._exit(1)
                answers.append(answer.rstrip("\n"))
            return answers

    def complete(self, prompt: str, tokens: int, temperature: float, seed: int) -> str:
        raise BadRequest("this model writes no text: POST samples to /predict")


class LanguageModel:
    """A model of souk.transformers."""

    def __init__(self, folder: Path, base: Path | None) -> None:
        from . import safetensors
        from .errors import Error
        from .transformers.settings import NEW_GPT
        from .transformers.trainer import language_trainer

        config = json.loads((folder / "trainer.json").read_text("utf-8"))
        if base is not None and base.exists() and config.get("model") != NEW_GPT:
            config["model"] = str(base)
        self.name = str(config.get("model", "model"))
        self._trainer = language_trainer(config)
        self._trainer.setup(config)
        names = ("model.safetensors", "adapter_model.safetensors")
        file = next((folder / n for n in names if (folder / n).exists()), None)
        if file is None:
            raise Error("not_found", f"{folder} has no {names[0]}")
        self._parameters = safetensors.read(file)
        self._turn = threading.Lock()

    def predict(self, lines: list[str]) -> list[str]:
        return [json.dumps({"text": self.complete(line, 64, 0.8, 1)}) for line in lines]

    def complete(self, prompt: str, tokens: int, temperature: float, seed: int) -> str:
        from ._torch import seed_all

        with self._turn:
            seed_all(seed)
            return self._trainer.write(self._parameters, prompt, tokens, temperature)


def _number(body: dict[str, Any], key: str, otherwise: float, least: float, most: float) -> float:
    value = body.get(key, otherwise)
    if value is None:
        return otherwise
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not least <= value <= most:
        raise BadRequest(f"'{key}' is a number from {least:g} to {most:g}")
    return value


def _prompt_of(body: dict[str, Any], chat: bool) -> str:
    if not chat:
        prompt = body.get("prompt", "")
        if isinstance(prompt, list) and len(prompt) == 1:
            prompt = prompt[0]
        if not isinstance(prompt, str):
            raise BadRequest("'prompt' is a text")
        return prompt
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise BadRequest("'messages' is a list of {role, content}")
    lines = []
    for message in messages:
        if not isinstance(message, dict) or message.get("role") not in _ROLES \
                or not isinstance(message.get("content"), str):
            raise BadRequest(f"a message has a role ({', '.join(_ROLES)}) and a content, a text")
        lines.append(f"{message['role']}: {message['content']}")
    return "\n".join([*lines, "assistant:"])


def _cut(text: str, stops: Any) -> tuple[str, str]:
    """The text up to the first of the stops, and why it ends."""
    stops = [stops] if isinstance(stops, str) else stops or []
    if not isinstance(stops, list) or not all(isinstance(s, str) and s for s in stops):
        raise BadRequest("'stop' is a text, or a list of texts")
    found = [at for at in (text.find(s) for s in stops) if at >= 0]
    return (text[:min(found)], "stop") if found else (text, "length")


class Answers:
    """What the server answers, apart from HTTP."""

    def __init__(self, model: Model) -> None:
        self.model = model

    def predict(self, text: str) -> str:
        lines = [line for line in text.splitlines() if line.strip()]
        return "".join(line + "\n" for line in self.model.predict(lines))

    def completion(self, body: dict[str, Any], chat: bool) -> tuple[dict[str, Any], bool]:
        """The answer, and whether the caller wants it in pieces."""
        tokens = int(_number(body, "max_tokens", body.get("max_completion_tokens") or 64, 1,
                             MOST_TOKENS))
        temperature = float(_number(body, "temperature", 0.8, 0, 2))
        seed = int(_number(body, "seed", 1, 0, 2**31))
        prompt = _prompt_of(body, chat)
        stops = body.get("stop") or (["\nuser:", "\nsystem:"] if chat else None)
        text, reason = _cut(self.model.complete(prompt, tokens, temperature, seed), stops)
        kind = "chat.completion" if chat else "text_completion"
        content = {"message": {"role": "assistant", "content": text.strip()}} if chat else {"text": text}
        answer = {
            "id": f"cmpl-{uuid.uuid4().hex[:24]}", "object": kind, "created": int(time.time()),
            "model": body.get("model", self.model.name),
            "choices": [{"index": 0, "finish_reason": reason, **content}],
            "usage": {"prompt_tokens": len(prompt.split()), "completion_tokens": len(text.split()),
                      "total_tokens": len(prompt.split()) + len(text.split())}}
        return answer, bool(body.get("stream"))


def pieces_of(answer: dict[str, Any]) -> Iterator[str]:
    """The same answer as server-sent events, word by word."""
    chat = answer["object"] == "chat.completion"
    choice = answer["choices"][0]
    text = choice["message"]["content"] if chat else choice["text"]
    kind = "chat.completion.chunk" if chat else "text_completion"
    head = {k: answer[k] for k in ("id", "created", "model")} | {"object": kind}

    def event(part: dict[str, Any], reason: str | None) -> str:
        piece = head | {"choices": [{"index": 0, "finish_reason": reason, **part}]}
        return f"data: {json.dumps(piece)}\n\n"

    words = text.split(" ")
    for i, word in enumerate(words):
        word = word if i == 0 else " " + word
        yield event({"delta": {"content": word}} if chat else {"text": word}, None)
    yield event({"delta": {}} if chat else {"text": ""}, choice["finish_reason"])
    yield "data: [DONE]\n\n"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    answers: Answers

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass

    def _send(self, status: int, body: str, kind: str = "application/json") -> None:
        data = body.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _fail(self, status: int, message: str) -> None:
        self._send(status, json.dumps({"error": {"message": message, "type": "invalid_request_error"}}))

    def do_GET(self) -> None:
        if self.path == "/health":
            self._send(200, "{}")
        elif self.path == "/v1/models":
            row = {"id": self.answers.model.name, "object": "model"}
            self._send(200, json.dumps({"object": "list", "data": [row]}))
        else:
            self._fail(404, "there is no such thing here")

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        if length > MOST_BODY:
            self.close_connection = True
            return self._fail(413, f"{MOST_BODY} bytes at most")
        text = self.rfile.read(length).decode("utf-8", "replace")
        try:
            if self.path == "/predict":
                return self._send(200, self.answers.predict(text), "application/jsonl")
            if self.path in ("/v1/completions", "/v1/chat/completions"):
                return self._complete(text, chat="chat" in self.path)
        except BadRequest as error:
            return self._fail(400, str(error))
        self._fail(404, "there is no such thing here")

    def _complete(self, text: str, chat: bool) -> None:
        try:
            body = json.loads(text)
        except ValueError as error:
            raise BadRequest(f"the body is no JSON: {error}") from None
        if not isinstance(body, dict):
            raise BadRequest("the body is a JSON object")
        answer, streams = self.answers.completion(body, chat)
        if not streams:
            return self._send(200, json.dumps(answer))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for piece in pieces_of(answer):
            data = piece.encode()
            self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.write(b"0\r\n\r\n")


def serve(model: Model, port: int, address: str = "127.0.0.1") -> ThreadingHTTPServer:
    """A server that listens; call serve_forever() on it."""
    handler = type("ModelHandler", (Handler,), {"answers": Answers(model)})
    server = ThreadingHTTPServer((address, port), handler)
    server.daemon_threads = True
    return server


def main() -> None:
    parser = argparse.ArgumentParser(prog="python3 -m souk.model_server", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=("native", "transformers"))
    parser.add_argument("model", type=Path, help="the folder of results")
    parser.add_argument("--base", type=Path, help="the folder of the model it began from")
    parser.add_argument("--port", type=int, default=8080)
    options = parser.parse_args()
    model: Model = (NativeModel(options.model) if options.kind == "native"
                    else LanguageModel(options.model, options.base))
    print(f"serving {options.model} at port {options.port}", file=sys.stderr, flush=True)
    serve(model, options.port).serve_forever()


if __name__ == "__main__":
    main()
