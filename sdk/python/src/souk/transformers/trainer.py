"""The trainer of language models."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import torch

from .. import safetensors
from .._torch import Recipe, TorchTrainer, seed_all
from ..errors import invalid
from ..trainer import Config, Description, Evaluated, Exam, Parameters, Stopped, Trained, Unit
from . import models
from .settings import Settings, read_settings
from .tokens import PackedTexts

_MOST_PERPLEXITY = 1e30  # Of a model that knows worse than nothing: the market takes finite ones.


def language_trainer(config: Config, _build: Any = None) -> LanguageTrainer:
    """For the job's configuration."""
    settings = read_settings(config)
    seed_all(settings.seed)  # What is frozen must come out alike on every worker.
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model, tokenizer = models.make(settings, device)
    return LanguageTrainer(model, tokenizer, settings, device)


class LanguageTrainer(TorchTrainer):
    """Trains what learns of a causal language model on texts. Adapters travel under the names that
    PEFT gives them in its files, other parameters under those of the model."""

    def __init__(self, model: Any, tokenizer: Any, settings: Settings, device: Any) -> None:
        most = getattr(model.config, "max_position_embeddings", None)
        if most is not None and settings.context > most:
            raise invalid(f"the context is {settings.context}", f"the model has {most}", "context")
        self.tokenizer = tokenizer
        self.settings = settings
        recipe = Recipe(
            compute=_next_token_loss,
            optimizer=_adamw(settings, device),
            precision=models.precision_on(settings, device),
            micro_batch=settings.micro_batch,
            clip=settings.clip,
            deterministic=settings.deterministic or device.type == "cpu",
        )
        texts = PackedTexts(tokenizer, settings.context)
        super().__init__(model, None, recipe, texts.load, str(device))
        self._fresh = True  # Parameters are still those that the model came with.

    def setup(self, config: Config) -> Description:
        said = super().setup(config)
        model = self._model
        everything = sum(p.numel() for p in model.parameters())
        learning = sum(p.numel() for p in self._learning())
        print(
            f"{type(model).__name__}: {everything:,} parameters, of which {learning:,} learn and "
            f"travel ({100 * learning / everything:.2g}%); {self._recipe.precision}",
            flush=True,
        )
        transformers = models._library("transformers")
        return Description(
            said.tensors, f"{said.framework}, transformers {transformers.__version__}", said.device
        )

    def init(self, seed: int) -> Parameters:
        if self.settings.lora is None:
            if not self._fresh:
                self._model, _tokenizer = models.make(self.settings, self._device)
                self._model.to(self._device)
                self._fresh = True
            return self._to_arrays(self._model)
        seed_all(seed)
        with torch.no_grad():
            for name, tensor in self._tensors(self._model).items():
                drawn = torch.zeros(tensor.shape)
                if "lora_A" in name or "lora_embedding_B" in name:
                    torch.nn.init.kaiming_uniform_(drawn, a=math.sqrt(5))
                tensor.copy_(drawn)
        return self._to_arrays(self._model)

    def train(self, base: Parameters, unit: Unit, stopped: Stopped) -> Trained:
        self._fresh = False
        return super().train(base, unit, stopped)

    def evaluate(self, base: Parameters, exam: Exam, stopped: Stopped) -> Evaluated:
        self._fresh = False
        done = super().evaluate(base, exam, stopped)
        perplexity = min(math.exp(min(done.loss, 700.0)), _MOST_PERPLEXITY)
        samples = done.samples
        if self.settings.sample_bytes > 0:
            # The job counted them by bytes, and takes no more than it counted.
            there_are = (safetensors.read(exam.shard)["x"].size - 1) // self.settings.sample_bytes
            samples = min(samples, max(there_are, 1))
        return Evaluated(samples, done.loss, {"perplexity": perplexity})

    def write(self, parameters: Parameters, prompt: str, length: int, temperature: float) -> str:
        """`length` tokens that the model with these parameters puts behind a prompt."""
        self._load(parameters)
        self._model.eval()
        self._model.config.use_cache = True
        end = self.tokenizer.eos_token_id
        first = self.tokenizer(prompt, add_special_tokens=False)["input_ids"] or [end or 0]
        written: list[int] = []
        chosen: dict[str, Any] = {"do_sample": temperature > 0}
        if temperature > 0:
            chosen["temperature"] = temperature
        while len(written) < length:
            # A model sees so many tokens at a time: longer texts move half of them out of sight.
            seen = (first + written)[-max(self.settings.context // 2, 1) :]
            ids = torch.tensor([seen], device=self._device)
            room = min(length - len(written), self.settings.context - len(seen))
            with torch.no_grad(), self._precision.products():
                out = self._model.generate(
                    input_ids=ids,
                    attention_mask=torch.ones_like(ids),
                    max_new_tokens=max(room, 1),
                    pad_token_id=end,
                    **chosen,
                )
            new = out[0, len(seen) :].tolist()
            written += new
            if not new or new[-1] == end:
                break
        text: str = self.tokenizer.decode(written, skip_special_tokens=True)
        return text

    def _tensors(self, model: Any) -> dict[str, Any]:
        out = {
            _travel_name(name): parameter
            for name, parameter in model.named_parameters()
            if parameter.requires_grad
        }
        if not out:
            raise invalid(
                "nothing of the model learns", "give lora:, or a model that is not frozen"
            )
        return out


def _travel_name(name: str) -> str:
    """As PEFT's files have it: without the adapter's name."""
    return name.replace(".lora_A.default.", ".lora_A.").replace(".lora_B.default.", ".lora_B.")


def _next_token_loss(model: Any, batch: Any) -> tuple[Any, Any]:
    ids = batch[0].long()
    return model(input_ids=ids, labels=ids).loss, None


def _adamw(settings: Settings, device: Any) -> Callable[[Any, float], Any]:
    more: Mapping[str, Any] = {}
    if device.type == "cuda" and int(torch.__version__.split(".")[0]) >= 2:
        more = {"fused": True}

    def made(parameters: Any, lr: float) -> Any:
        return torch.optim.AdamW(
            parameters, lr=lr, weight_decay=settings.weight_decay, **dict(more)
        )

    return made
