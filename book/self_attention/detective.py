"""The chapter's model for the pronoun *it*: two attentions and nothing else."""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from tqdm.auto import tqdm

from book.sentences import PronounSentence
from companion.data import Vocabulary
from companion.nn import LearnedPositions, MultiHeadAttention, TokenEmbedding, padding_mask


class Detective(nn.Module):
    """Two attentions: every word collects clues nearby, then looks them up on a board.

    Args:
        vocabulary: its words, and its padding.
        d_model: width of the vectors.
        window: how many words away clues are collected.
        board: what the second attention reads, "words" or the "clues" of the first.
    """

    def __init__(self, vocabulary, d_model=64, window=3, board="words"):
        super().__init__()
        self.embedding = TokenEmbedding(len(vocabulary), d_model, scale=False)
        self.positions = LearnedPositions(20, d_model)
        self.gather = MultiHeadAttention(d_model, num_heads=1)
        self.look_up = MultiHeadAttention(d_model, num_heads=1)
        self.window, self.board, self.pad_id = window, board, vocabulary.pad_id

    def forward(self, ids, need_weights=False, allowed=True):
        place = torch.arange(ids.shape[1], device=ids.device)
        near = (place[:, None] - place).abs() <= self.window  # (T, T)
        real = padding_mask(ids, self.pad_id)  # (B, 1, 1, T)
        words = self.positions(self.embedding(ids))  # (B, T, d_model)
        clues = words + self.gather(words, mask=real & near)[0]
        board = words if self.board == "words" else clues
        found, weights = self.look_up(clues, board, mask=real & allowed, need_weights=need_weights)
        logits = (clues + found) @ self.embedding.weight.T  # (B, T, vocab_size)
        return logits, weights


def as_tensors(
    sentences: Sequence[PronounSentence], vocabulary: Vocabulary, device: torch.device
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The ids (B, T), and where "it", the right and the wrong noun stand, (B,) each.

    Args:
        sentences: made by `book.sentences.pronoun_sentences`.
        vocabulary: the words' ids.
        device: where the tensors are to be.
    """
    ids = vocabulary.encode([s.words for s in sentences])
    at = [[s.it_position, s.right_position, s.wrong_position] for s in sentences]
    return ids.to(device), *torch.tensor(at, device=device).unbind(1)


def train_detective(model, sentences, seed, steps=300, learning_rate=4e-3):
    """Train a model to name the right noun at "it", and nothing else; returns it in eval mode.

    Args:
        model: a `Detective`.
        sentences: what `as_tensors` returns.
        seed: of the batches of 64.
        steps: of AdamW, with one cycle of the learning rate.
        learning_rate: the highest.
    """
    ids, it, right, _ = sentences
    model.to(ids.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, learning_rate, steps, pct_start=0.1)
    random = torch.Generator().manual_seed(seed)
    for _ in tqdm(range(steps), leave=False):
        row = torch.randint(len(ids), (64,), generator=random).to(ids.device)
        logits, _ = model(ids[row])
        at_it = logits[torch.arange(64, device=ids.device), it[row]]
        loss = F.cross_entropy(at_it, ids[row, right[row]])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    return model.eval()
