"""The two packaged models, on their real weights: fetched once, about 180 MB."""

import pytest
import torch
from transformers import AutoTokenizer, BertModel

from companion.generation import generate
from companion.models import BERT, GPT
from companion.pretrained import load, load_tokenizer
from companion.pretrained.packages import packaged

pytestmark = pytest.mark.weights

MINILM, SMOLLM2 = "all-MiniLM-L6-v2", "SmolLM2-135M-Instruct"
TEXTS = [
    "The animal didn't cross the street, because it was too tired.",
    "An unbelievable naïve café in São Paulo: 東京 🙂",
    "def f(x):\n    return  x + 10  # 2024",
    " a  b\tc\n\n",
    "",
]


def test_minilm_gives_the_vectors_of_transformers():
    ours, tokenizer = load(MINILM), load_tokenizer(MINILM)
    theirs = BertModel.from_pretrained(packaged(MINILM), add_pooling_layer=False).eval()
    assert type(ours) is BERT and not ours.config.mlm_head and not ours.training
    token_ids = torch.tensor([tokenizer.encode(TEXTS[0])])
    with torch.no_grad():
        torch.testing.assert_close(ours(token_ids), theirs(token_ids).last_hidden_state)


@pytest.mark.parametrize("text", TEXTS)
def test_minilm_has_the_tokens_of_transformers(text):
    theirs = AutoTokenizer.from_pretrained(packaged(MINILM))
    ours = load_tokenizer(MINILM)
    assert ours.encode(text) == theirs.encode(text)
    assert ours.decode(ours.encode(text)) == theirs.decode(
        theirs.encode(text), skip_special_tokens=True
    )
    assert len(ours) == 30522


def test_minilm_cuts_nothing_off_and_fills_nothing_up():
    tokenizer = load_tokenizer(MINILM)
    assert tokenizer.encode("a " * 400) == [101, *[1037] * 400, 102]
    assert tokenizer.pieces("Unhappiness") == ["[CLS]", "un", "##ha", "##pp", "##iness", "[SEP]"]
    with pytest.raises(ValueError, match="no format for conversations"):
        tokenizer.chat([{"role": "user", "content": "hello"}])


@pytest.fixture(scope="module")
def smollm2():
    """The model, its tokenizer, and the tokenizer of transformers, which takes seconds to read."""
    path = packaged(SMOLLM2)
    theirs = AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)
    return load(SMOLLM2), load_tokenizer(SMOLLM2), theirs


@pytest.mark.long
def test_smollm2_answers(smollm2):
    model, tokenizer, _ = smollm2
    assert type(model) is GPT and not model.training
    assert model.config.rope_pairing == "interleaved"
    assert sum(parameter.numel() for parameter in model.parameters()) == 134_515_008
    question = tokenizer.chat([{"role": "user", "content": "What is the capital of France?"}])
    written = generate(model, torch.tensor([question]), 20, temperature=0, eos_id=tokenizer.eos_id)
    answer = written[0, len(question) :]
    assert tokenizer.decode(answer) == "The capital of France is Paris."
    assert tokenizer.pieces(answer[-1:]) == ["<|im_end|>"]


def test_smollm2_has_the_tokens_of_transformers(smollm2):
    _, ours, theirs = smollm2
    for text in TEXTS:
        token_ids = ours.encode(text)
        # older releases of transformers begin with a token that the file says to leave out
        assert token_ids == theirs.encode(text, add_special_tokens=False)
        assert ours.decode(token_ids, special_tokens=True) == text
    assert ours.pieces("In 1984, naïve") == ["In", " ", "1", "9", "8", "4", ",", " na", "ïve"]
    assert len(ours) == 49152


def test_smollm2_writes_conversations_as_transformers_does(smollm2):
    _, ours, theirs = smollm2
    messages = [{"role": "user", "content": "Hello"}]
    longer = [{"role": "system", "content": "Be brief."}, *messages]
    longer += [{"role": "assistant", "content": "Hi."}, {"role": "user", "content": "Bye"}]
    for conversation in (messages, longer):
        expected = theirs.apply_chat_template(
            conversation,
            add_generation_prompt=True,
            tokenize=False,
        )
        assert ours.decode(ours.chat(conversation), special_tokens=True) == expected
    assert ours.decode(ours.chat(longer)).startswith("system\nBe brief.\nuser\nHello\n")
    for wrong in ({"role": "user"}, {"content": "Hello"}, {"role": "user", "content": 3}, "Hello"):
        with pytest.raises(ValueError, match="a message needs the texts 'role' and 'content'"):
            ours.chat([wrong])
