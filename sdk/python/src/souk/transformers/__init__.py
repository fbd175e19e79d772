"""Language models in Hugging Face's format: fine-tuned whole, or by LoRA.

`souk.transformers.worker()` is a whole script; a job file that says `trainer: transformers` needs
none. What the job says under `model` and `options` are the settings (settings.py lists them). Only
what learns travels: of LoRA the adapters. `python3 -m souk.transformers` makes what the ecosystem
expects of the results, writes texts with them, and makes small models to try things with.
"""

from __future__ import annotations

from typing import Any


def worker(**settings: Any) -> None:
    """Serves the agent until the job has no more work here, then returns.

    `settings` are those of settings.py; what the job's configuration says goes before them.
    """
    from .._serve import serve
    from .._worker import Deferred
    from .trainer import language_trainer

    serve(Deferred(lambda config: {**settings, **config}, language_trainer))
