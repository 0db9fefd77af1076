"""Put a trained model among those that come with the program: `ship_model.py CARD --title T --scores FILE...`.

Copies weights and graphs as they are (their hashes are checked), adds title, licence and measured scores to the card. Each
`--scores` file is `KEY=FILE`, FILE being what `segstudio eval --json` printed.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import shutil
from pathlib import Path

from segstudio.core.files import write_json
from segstudio.networks.spec import checked_file, read_card

MODELS = Path(__file__).parents[2] / "resources" / "models"
LICENCE = "Apache-2.0; trained from random weights on CC0 pictures (see NOTICE)"
KEPT = ("miou", "accuracy", "majority_miou", "iou")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("card", type=Path)
    parser.add_argument("--title", required=True)
    parser.add_argument("--scores", action="append", default=[], metavar="KEY=FILE")
    arguments = parser.parse_args()

    card = read_card(arguments.card)
    scores: dict[str, object] = {}
    for item in arguments.scores:
        key, _, file = item.partition("=")
        result = json.loads(Path(file).read_text(encoding="utf-8"))
        scores[key] = {name: _rounded(result[name]) for name in KEPT}
    MODELS.mkdir(parents=True, exist_ok=True)
    for key, (name, _) in card.files.items():
        shutil.copyfile(checked_file(card, key, arguments.card.parent), MODELS / name)
    card = dataclasses.replace(card, title=arguments.title, licence=LICENCE, scores=scores)
    write_json(MODELS / f"{card.name}.json", card.to_json())
    print(MODELS / f"{card.name}.json")


def _rounded(value: object) -> object:
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    return round(value, 4) if isinstance(value, float) else value


if __name__ == "__main__":
    main()
