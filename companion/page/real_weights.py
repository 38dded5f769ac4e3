"""The book's experiments on published weights: python -m companion.page.real_weights

It downloads BERT and GPT-2 (about a gigabyte) and writes real_weights.json beside this file, which
the chapter on pretrained models shows. Nothing else reads the network, so until somebody has run it
the page says so. Without a network, give it two folders with config.json, model.safetensors and
tokenizer.json: python -m companion.page.real_weights BERT GPT2
"""

import json
import sys
from itertools import permutations
from pathlib import Path

import torch
import torch.nn.functional as F
from tokenizers import Tokenizer

from companion.models import BERT, GPT
from companion.pretrained import load

RECORD = Path(__file__).with_name("real_weights.json")
BERT_NAME = "google-bert/bert-base-uncased"
GPT2_NAME = "openai-community/gpt2"

BANK = {
    "money": [
        "she opened an account at the bank .",
        "the bank raised the interest rate on loans .",
        "he asked the bank for a mortgage .",
        "they robbed the bank and took the money .",
        "the bank refused my credit card .",
        "you can deposit a check at the bank .",
    ],
    "river": [
        "they sat on the bank of the river .",
        "the boat drifted toward the muddy bank .",
        "reeds grow along the bank of the stream .",
        "the fisherman walked down the bank to the water .",
        "the flood washed away the river bank .",
        "otters live in the bank of the creek .",
    ],
}
PAIRS = ["man woman", "king queen", "boy girl", "father mother", "son daughter", "uncle aunt"]
PAIRS += ["brother sister", "husband wife", "prince princess", "actor actress"]
PAIRS = [tuple(pair.split()) for pair in PAIRS]

# Sentence, its two nouns, and the adjective that fits each.
IT = [
    ("the animal did not cross the street because {} was too {} .", "animal street tired wide"),
    ("the truck could not use the bridge because {} was too {} .", "truck bridge heavy weak"),
    ("the book did not fit on the shelf because {} was too {} .", "book shelf thick short"),
    ("the dog did not eat the apple because {} was too {} .", "dog apple sick rotten"),
    ("the boat did not cross the river because {} was too {} .", "boat river small wild"),
    ("the ball did not go through the hole because {} was too {} .", "ball hole large narrow"),
    ("the cat did not drink the milk because {} was too {} .", "cat milk sleepy sour"),
    ("the child did not read the book because {} was too {} .", "child book young long"),
]


def pronouns() -> list[tuple[str, str, str, str]]:
    """(sentence with {} for "it", adjective, right noun, wrong noun), two of each of `IT`."""
    found = []
    for sentence, words in IT:
        first, second, of_first, of_second = words.split()
        found.append((sentence, of_first, first, second))
        found.append((sentence, of_second, second, first))
    return found


def same_sense(vectors: torch.Tensor, senses: list[str]) -> dict[str, float]:
    """How well vectors (N, d_model) of one word tell its senses apart.

    Returns:
        nearest: share whose nearest other vector has the same sense; within, across: mean cosine
        of two vectors of the same sense, and of different ones.
    """
    unit = F.normalize(vectors, dim=1)
    cosine = unit @ unit.T
    same = torch.tensor([[a == b for b in senses] for a in senses])
    other = ~torch.eye(len(senses), dtype=torch.bool)
    nearest = cosine.masked_fill(~other, -2).argmax(1)
    return {
        "nearest": same[torch.arange(len(senses)), nearest].double().mean().item(),
        "within": cosine[same & other].mean().item(),
        "across": cosine[~same].mean().item(),
    }


def analogies(vectors: torch.Tensor, ids: list[tuple[int, int]]) -> dict[str, float]:
    """king − man + woman over all ordered pairs of pairs, the three given words excluded.

    Args:
        vectors: of all tokens (vocab_size, d_model).
        ids: tokens of (man, woman), (king, queen) and so on.

    Returns:
        right: share where the nearest token is the right one; without: the same for the nearest
        token to king alone, which asks how much the arithmetic adds.
    """
    unit = F.normalize(vectors, dim=1)
    right, without = [], []
    for (a, b), (c, d) in permutations(ids, 2):
        given = torch.tensor([a, b, c])
        for query, found in ((unit[c] - unit[a] + unit[b], right), (unit[c], without)):
            cosine = (unit @ query).index_fill(0, given, -torch.inf)
            found.append(cosine.argmax().item() == d)
    return {"right": sum(right) / len(right), "without": sum(without) / len(without)}


def one_token(tokenizer: Tokenizer, word: str) -> int:
    """The id of a word that is one token; raise ValueError if it is none or several."""
    ids = tokenizer.encode(word, add_special_tokens=False).ids
    if len(ids) != 1 or tokenizer.decode(ids).strip() != word.strip():
        raise ValueError(f"{word!r} must be one token of this model, got {len(ids)}: {ids}")
    return ids[0]


@torch.no_grad()
def bert_experiments(bert: BERT, tokenizer: Tokenizer) -> dict:
    """bank, king and queen, and "it" on a BERT with an MLM head."""
    sentences = [(text, sense) for sense, texts in BANK.items() for text in texts]
    banks, senses = [], []
    for text, sense in sentences:
        encoded = tokenizer.encode(text)
        hidden = bert.encode(torch.tensor([encoded.ids]))
        banks.append(hidden[0, encoded.tokens.index("bank")])
        senses.append(sense)
    found = {"bank": same_sense(torch.stack(banks), senses)}
    ids = [tuple(one_token(tokenizer, word) for word in pair) for pair in PAIRS]
    found["analogies"] = analogies(bert.token_embedding.weight, ids)

    answers, looks = [], []
    for sentence, adjective, right, wrong in pronouns():
        encoded = tokenizer.encode(sentence.format("it", adjective))
        _, weights = bert(torch.tensor([encoded.ids]), need_weights=True)
        row = torch.stack(weights)[:, 0, :, encoded.tokens.index("it")]  # (layers, H, T)
        at_right, at_wrong = (row[..., encoded.tokens.index(noun)] for noun in (right, wrong))
        looks.append((at_right > at_wrong).flatten())
        asked = tokenizer.encode(sentence.format("the [MASK]", adjective))
        logits = bert(torch.tensor([asked.ids]))[0, asked.tokens.index("[MASK]")]
        right, wrong = (one_token(tokenizer, noun) for noun in (right, wrong))
        answers.append((logits[right] > logits[wrong]).item())
    looks = torch.stack(looks).double()  # (sentences, heads of all layers)
    half = len(looks) // 2
    best = looks[:half].mean(0).argmax()  # chosen on one half of the sentences
    found["it"] = {
        "answers": sum(answers) / len(answers),
        "all heads": looks.mean().item(),
        "best head": looks[half:, best].mean().item(),  # and tried on the other
    }
    return found


@torch.no_grad()
def gpt_experiments(gpt: GPT, tokenizer: Tokenizer) -> dict:
    """king and queen, and "it", on a GPT whose words begin with a space."""
    ids = [tuple(one_token(tokenizer, f" {word}") for word in pair) for pair in PAIRS]
    answers = []
    for sentence, adjective, right, wrong in pronouns():
        scores = []
        for noun in (right, wrong):
            tokens = torch.tensor([tokenizer.encode(sentence.format(f"the {noun}", adjective)).ids])
            log_p = gpt(tokens)[:, :-1].log_softmax(-1)
            scores.append(log_p.gather(2, tokens[:, 1:, None]).sum().item())
        answers.append(scores[0] > scores[1])
    return {
        "analogies": analogies(gpt.token_embedding.weight, ids),
        "it": {"answers": sum(answers) / len(answers)},
    }


def recorded() -> dict | None:
    """What the command has found; None if nobody has run it."""
    return json.loads(RECORD.read_text("utf8")) if RECORD.exists() else None


def tokenizer_of(name: str) -> Tokenizer:
    """The tokenizer of a folder, or of a model on the hub."""
    if Path(name).is_dir():
        return Tokenizer.from_str((Path(name) / "tokenizer.json").read_text("utf8"))
    from huggingface_hub import hf_hub_download

    return Tokenizer.from_file(hf_hub_download(name, "tokenizer.json"))


def main(bert: str = BERT_NAME, gpt2: str = GPT2_NAME) -> None:
    """Run the experiments on published weights and record what comes out.

    Args:
        bert, gpt2: names on the hub, or folders.
    """
    found = {
        BERT_NAME: bert_experiments(load(bert), tokenizer_of(bert)),
        GPT2_NAME: gpt_experiments(load(gpt2), tokenizer_of(gpt2)),
    }
    RECORD.write_text(json.dumps(found, indent=1) + "\n", "utf8")
    print(RECORD.read_text("utf8"))


if __name__ == "__main__":
    if len(sys.argv) not in (1, 3):
        sys.exit("give nothing, or two folders: python -m companion.page.real_weights BERT GPT2")
    try:
        main(*sys.argv[1:])
    except OSError as error:  # of the network, or of a folder that lacks a file
        sys.exit(f"{error}\nNothing was recorded. Folders are given as two arguments: BERT GPT2")
