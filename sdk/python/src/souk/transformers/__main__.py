"""python3 -m souk.transformers export | predict | new"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from pathlib import Path

from ..errors import Error
from .settings import NEW_GPT, Settings


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python3 -m souk.transformers", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    export = commands.add_parser("export", help="results as PEFT or transformers load them")
    export.add_argument("results", type=Path)
    export.add_argument("--model", type=Path, help="the folder of the model it began from")
    export.add_argument("--base-name", default="", help="how an adapter names that model")
    predict = commands.add_parser("predict", help="go on with a text from standard input")
    predict.add_argument("results", type=Path)
    predict.add_argument("--model", type=Path, help="the folder of the model it began from")
    predict.add_argument("--length", type=int, default=200, help="tokens to write")
    predict.add_argument("--temperature", type=float, default=0.8, help="0: the likeliest token")
    predict.add_argument("--seed", type=int, default=1)
    new = commands.add_parser("new", help="a small GPT-2 of random weights, to try things with")
    new.add_argument("folder", type=Path)
    for name in ("layers", "width", "heads", "context", "seed"):
        new.add_argument(f"--{name}", type=int, default=getattr(Settings, name))
    new.add_argument("--text", type=Path, nargs="*", help="train a tokenizer on these files")
    new.add_argument("--vocabulary", type=int, default=1024, help="its size")
    return parser


def main() -> None:
    options = _parser().parse_args()
    commands = {"export": _export, "predict": _predict, "new": _new}
    try:
        commands[options.command](options)
    except Error as error:
        sys.exit(f"souk: {error}")


def _export(options: argparse.Namespace) -> None:
    from .export import export

    print(f"{options.results}: {export(options.results, options.model, options.base_name)}")


def _predict(options: argparse.Namespace) -> None:
    config = json.loads((options.results / "trainer.json").read_text("utf-8"))
    if options.model is not None and config.get("model") != NEW_GPT:
        config["model"] = str(options.model)
    prompt = sys.stdin.read().rstrip("\n")
    with contextlib.redirect_stdout(sys.stderr):  # What libraries print is no text of the model's.
        from .. import safetensors
        from .._torch import seed_all
        from .trainer import language_trainer

        trainer = language_trainer(config)
        trainer.setup(config)
        names = ("model.safetensors", "adapter_model.safetensors")
        file = next((options.results / n for n in names if (options.results / n).exists()), None)
        if file is None:
            raise Error("not_found", f"{options.results} has no {names[0]}")
        seed_all(options.seed)
        parameters = safetensors.read(file)
        text = trainer.write(parameters, prompt, options.length, options.temperature)
    print(prompt + text)


def _new(options: argparse.Namespace) -> None:
    from . import models
    from .settings import read_settings

    names = ("layers", "width", "heads", "context", "seed")
    config = {"model": NEW_GPT, **{name: getattr(options, name) for name in names}}
    settings = read_settings(config)
    model = models.new_gpt(settings)
    tokenizer = models.byte_tokenizer()
    if options.text:
        texts = [file.read_text("utf-8", "replace") for file in options.text]
        tokenizer = models.trained_tokenizer(texts, options.vocabulary)
        model.resize_token_embeddings(len(tokenizer))
        model.config.bos_token_id = model.config.eos_token_id = tokenizer.eos_token_id
    model.save_pretrained(options.folder)
    tokenizer.save_pretrained(options.folder)
    print(f"{options.folder}: {sum(p.numel() for p in model.parameters()):,} parameters")


if __name__ == "__main__":
    main()
