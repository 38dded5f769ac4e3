"""The experiments on published weights, tried on models whose answers are known."""

import math
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import BertConfig, BertForMaskedLM, GPT2Config, GPT2LMHeadModel

from companion.models import BERT, GPT, BERTConfig, GPTConfig
from companion.page import real_weights
from companion.page.real_weights import (
    BANK,
    PAIRS,
    analogies,
    bert_experiments,
    gpt_experiments,
    pronouns,
    same_sense,
)

SPECIAL = ["[PAD]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = {word for texts in BANK.values() for text in texts for word in text.split()}
WORDS |= {word for pair in PAIRS for word in pair}
for sentence, adjective, *_ in pronouns():
    WORDS |= set(sentence.format("it", adjective).split())
VOCABULARY = {word: i for i, word in enumerate([*SPECIAL, *sorted(WORDS)])}


def word_tokenizer():
    tokenizer = Tokenizer(models.WordLevel(VOCABULARY, unk_token="[PAD]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 2), ("[CLS]", 1))
    return tokenizer


def test_senses_by_hand():
    vectors = torch.tensor([[2, 0], [2, 1], [0, 3], [0, 1]], dtype=torch.float64)
    # cosines: 2/√5 and 1 within the pairs; 0, 0, 1/√5, 1/√5 across
    assert same_sense(vectors, ["a", "a", "b", "b"]) == {
        "nearest": 1.0,
        "within": pytest.approx((2 / math.sqrt(5) + 1) / 2),
        "across": pytest.approx(1 / math.sqrt(5) / 2),
    }
    assert same_sense(vectors, ["a", "b", "a", "b"])["nearest"] == 0.0
    assert same_sense(vectors, ["a", "b", "b", "b"])["nearest"] == 0.5


def test_analogies_by_hand():
    rows = torch.eye(5)
    gender, person, ruler = rows[0], rows[1], rows[2]
    # The last word is near to all others, so that king alone does not lead to queen.
    words = [person - gender, person + gender, ruler - gender, ruler + gender, person + ruler]
    vectors = torch.stack(words)
    assert analogies(vectors, [(0, 1), (2, 3)]) == {"right": 1.0, "without": 0.0}
    assert analogies(vectors, [(0, 1), (3, 2)])["right"] == 0.0
    vectors[4] = -person - ruler
    assert analogies(vectors, [(0, 1), (2, 3)]) == {"right": 1.0, "without": 1.0}


def test_every_sentence_has_its_words_once():
    for sentence, adjective, right, wrong in pronouns():
        words = sentence.format("it", adjective).split()
        assert all(words.count(word) == 1 for word in ("it", right, wrong))
    assert len(pronouns()) == 16 and len({s[:2] for s in pronouns()}) == 16
    for texts in BANK.values():
        assert all(text.split().count("bank") == 1 for text in texts)


class Looking(BERT):
    """Its head (1, 2) looks from "it" at the right noun; it answers right where it is told to."""

    def __init__(self, knows):
        sizes = {"d_model": 12, "num_layers": 2, "num_heads": 3, "d_ff": 13}
        super().__init__(BERTConfig(vocab_size=len(VOCABULARY), max_len=17, **sizes))
        self.knows = knows

    def forward(self, ids, need_weights=False):
        words = [list(VOCABULARY)[i] for i in ids[0]]
        noun = next(r for s, a, r, _ in pronouns() if {a, *s.split()[:6]} <= set(words))
        if need_weights:
            weights = torch.zeros(2, 1, 3, len(words), len(words))
            weights[1, 0, 2, words.index("it"), words.index(noun)] = 1.0
            return None, list(weights)
        logits = torch.zeros(1, len(words), len(VOCABULARY))
        logits[0, words.index("[MASK]"), VOCABULARY[noun]] = 1.0 if self.knows else -1.0
        return logits


@pytest.mark.parametrize("knows", [True, False])
def test_the_right_noun_is_found_by_the_head_that_looks_at_it(knows):
    found = bert_experiments(Looking(knows), word_tokenizer())
    assert found["it"] == {
        "answers": float(knows),
        "all heads": pytest.approx(1 / 6),
        "best head": 1.0,
    }
    assert found["bank"]["within"] < 1 and found["analogies"]["right"] < 0.5


def test_a_gpt_prefers_the_likelier_sentence():
    sizes = {"d_model": 12, "num_layers": 1, "num_heads": 3, "d_ff": 13, "pad_id": None}
    gpt = GPT(GPTConfig(vocab_size=len(VOCABULARY), max_len=20, **sizes)).eval()
    found = gpt_experiments(gpt, word_tokenizer())
    assert 0 <= found["it"]["answers"] <= 1

    class Knowing(GPT):
        def forward(self, ids):
            words = [list(VOCABULARY)[i] for i in ids[0]]
            nouns = {(r, a) for _, a, r, _ in pronouns()}
            right = any(noun == words[-6] and a in words for noun, a in nouns)
            logits = torch.zeros(1, len(words), len(VOCABULARY))
            logits[0, torch.arange(len(words) - 1), ids[0, 1:]] = 5.0 if right else 0.0
            return logits

    assert gpt_experiments(Knowing(gpt.config), word_tokenizer())["it"]["answers"] == 1.0


def test_the_page_shows_a_record_only_if_there_is_one(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(real_weights, "RECORD", tmp_path / "record.json")
    assert real_weights.recorded() is None
    monkeypatch.setattr(real_weights, "load", lambda name: Looking(True))
    monkeypatch.setattr(real_weights, "tokenizer_of", lambda name: word_tokenizer())
    monkeypatch.setattr(real_weights, "gpt_experiments", lambda *_: {"it": {"answers": 0.5}})
    real_weights.main()
    record = real_weights.recorded()
    assert record[real_weights.BERT_NAME]["it"]["answers"] == 1.0
    assert record[real_weights.GPT2_NAME] == {"it": {"answers": 0.5}}
    assert "best head" in capsys.readouterr().out


@pytest.mark.parametrize("word", ["nowhere", "the animal"])
def test_a_word_that_is_not_one_token_is_refused(word):
    assert real_weights.one_token(word_tokenizer(), " animal") == VOCABULARY["animal"]
    with pytest.raises(ValueError, match=f"'{word}' must be one token of this model"):
        real_weights.one_token(word_tokenizer(), word)


def test_folders_are_measured_without_a_network(tmp_path, monkeypatch):
    sizes = {"vocab_size": len(VOCABULARY), "bos_token_id": 1, "eos_token_id": 2}
    stack = {"hidden_size": 12, "num_hidden_layers": 2, "num_attention_heads": 3}
    bert = BertConfig(**sizes, **stack, intermediate_size=13)
    gpt2 = GPT2Config(**sizes, n_embd=12, n_head=3, n_layer=1)
    for name, model in {"bert": BertForMaskedLM(bert), "gpt2": GPT2LMHeadModel(gpt2)}.items():
        model.save_pretrained(tmp_path / name)
        word_tokenizer().save(str(tmp_path / name / "tokenizer.json"))
    monkeypatch.setattr(real_weights, "RECORD", tmp_path / "record.json")
    real_weights.main(str(tmp_path / "bert"), str(tmp_path / "gpt2"))
    record = real_weights.recorded()
    assert list(record[real_weights.BERT_NAME]) == ["bank", "analogies", "it"]
    assert list(record[real_weights.GPT2_NAME]) == ["analogies", "it"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "could not be had from the hub"),
        (["one"], "give nothing, or two folders"),
        ([".", "."], "there is no config.json in ."),
    ],
)
def test_without_a_network_the_command_says_what_to_do(tmp_path, arguments, told):
    command = [sys.executable, "-m", "companion.page.real_weights", *arguments]
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path)}
    path = str(Path(real_weights.__file__).parents[2])
    run = subprocess.run(
        command,
        cwd=tmp_path,
        env=environment | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 1 and told in run.stderr and "BERT GPT2" in run.stderr
    assert "Traceback" not in run.stderr and not run.stdout
