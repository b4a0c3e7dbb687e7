"""The guard of prompts: plain, behind LangChain's RunnableLambda, and in the example."""
import copy
import os
import pathlib
import subprocess
import sys

import pytest
from conftest import COINS, FLUENT, SURE
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import HumanMessage, convert_to_openai_messages
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda

import tem
import tem.prompts

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples/prompt_guard.py"
SYSTEM = {"role": "system", "content": "Answer in ONE sentence."}
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}


def user(content):
    return {"role": "user", "content": content}


def test_prompts(model):
    """Public messages stay; private ones are drawn for, part by part; the input does not change."""
    guard = tem.prompts.guard(model, **SURE)
    assert guard("CALL me,  Anna!") == "call me anna"
    prompt = [SYSTEM, user("The film\nwas WONDERFUL."),
              user([{"type": "text", "text": "Call me"}, {"type": "text", "text": ""}])]
    before = copy.deepcopy(prompt)
    made = guard(prompt)
    assert made == [SYSTEM, user("the film was wonderful"),
                    user([{"type": "text", "text": "call me"}, {"type": "text", "text": ""}])]
    assert prompt == before and made[0] is not SYSTEM
    parts = [{"type": "text", "text": "Be BRIEF"}]
    made = guard([{"role": "developer", "content": parts}])
    assert made[0]["content"] == parts and made[0]["content"][0] is not parts[0]
    assert guard([]) == [] and guard(tuple(prompt[:1])) == [SYSTEM]
    assert tem.prompts.guard(model, keep_lines=True, **SURE)("the\nfilm") == "the\nfilm"


def test_roles(model):
    """A role is private, public, or refused."""
    chat = [SYSTEM, user("The film"), {"role": "assistant", "content": "So WONDERFUL!"}]
    with pytest.raises(tem.ArgumentError, match="neither private nor public"):
        tem.prompts.guard(model, **SURE)(chat)
    told = tem.prompts.guard(model, public=["system", "assistant"], **SURE)(chat)
    assert told == [SYSTEM, user("the film"), chat[2]]
    drawn = tem.prompts.guard(model, private=["user", "assistant"], **SURE)(chat)
    assert drawn[2]["content"] == "so wonderful"
    hidden = tem.prompts.guard(model, private=["system"], public=[], **SURE)
    with pytest.raises(tem.ArgumentError):
        hidden(chat)
    assert len(hidden([SYSTEM])[0]["content"].split()) == 4


REFUSED = [
    5, None, {"role": "user", "content": "film"}, ["film"], [None], [user(None)], [user(b"film")],
    [user(("film",))], [user(["film"])], [{"content": "film"}], [{"role": "user"}],
    [{"role": None, "content": "film"}], [{"role": "tool", "content": "film"}],
    [{"role": "User", "content": "film"}], [{**user("film"), "name": "Anna"}],
    [{**user(""), "tool_calls": [{"function": {"name": "f", "arguments": "film"}}]}],
    [{**SYSTEM, "tool_calls": []}], [{**user("film"), "tool_call_id": "film"}],
    [user([{"type": "text", "text": "film", "cache_control": {}}])], [user([{"type": "text"}])],
    [user([{"type": "text", "text": 5}])], [user([{"text": "film"}])], [user([IMAGE])],
    [user([{"type": "input_audio", "input_audio": "film"}])], [user([[IMAGE]])]]


@pytest.mark.parametrize("place", range(len(REFUSED)))
def test_what_the_guard_does_not_know_is_refused(model, ledger, charges, place):
    """Nothing is charged, and no message has the text."""
    guard = tem.prompts.guard(model, epsilon=1, ledger=ledger)
    prompt = REFUSED[place]
    longer = [SYSTEM, user("wonderful"), *prompt] if isinstance(prompt, list) else prompt
    for tried in (prompt, longer):
        with pytest.raises(tem.ArgumentError) as refused:
            guard(tried)
        assert "film" not in str(refused.value) and "Anna" not in str(refused.value)
    assert charges() == []


def test_allowed_parts(model):
    """They leave as they are, so no bound holds; text is always drawn for."""
    guard = tem.prompts.guard(model, allow_parts=["image_url"], **SURE)
    prompt = [user([{"type": "text", "text": "The FILM"}, IMAGE])]
    made, report = guard.privatize_report(prompt)
    assert made == [user([{"type": "text", "text": "the film"}, IMAGE])]
    assert made[0]["content"][1]["image_url"] is not IMAGE["image_url"]
    assert report.private is False and "allow_parts" in report.why_not_private
    assert report.spent_worst is None
    assert guard.privatize_report("film")[1].private is False
    with pytest.raises(tem.ArgumentError):
        guard([user([{"type": "input_audio", "input_audio": "film"}])])
    for wrong in ({"allow_parts": ["text"]}, {"allow_parts": "image_url"}, {"private": "user"},
                  {"public": ["user"]}):
        with pytest.raises(tem.ArgumentError):
            tem.prompts.guard(model, epsilon=1, **wrong)


def test_draws(coin):
    """Two texts of 64 words come out equal with probability 2^-64: 40 draws of the same text, in
    messages, parts and calls, are all different, except with probability 40^2 / 2 * 2^-64."""
    guard = tem.prompts.guard(coin, epsilon=1)
    parts = [{"type": "text", "text": COINS}] * 10
    made = guard([user(COINS)] * 10 + [user(parts)])
    drawn = [message["content"] for message in made[:-1]]
    drawn += [part["text"] for part in made[-1]["content"]]
    drawn += [guard(COINS) for _ in range(20)]
    assert len(set(drawn)) == 40 and COINS not in drawn


def test_in_context(default, seeded):
    """Each message is a document of its own, drawn as Model.privatize draws it."""
    texts = ["One of my best films was on.", "My doctor says that my best doctor was away."]
    guard = tem.prompts.guard(**FLUENT)
    made, report = guard.privatize_report([SYSTEM, *map(user, texts)])
    drawn, told = default.privatize_report(texts, **FLUENT)
    assert made == [SYSTEM, *map(user, drawn)]
    assert drawn != default.privatize(texts, **{**FLUENT, "language_model": None,
                                                "style": "joined"})
    assert report.language_model == "english"
    assert report.language_model_hash == tem.LanguageModel.open("english").hash
    assert (report.never, report.repeat, report.charged) == (2, "once", report.words - 1)
    assert report.charged == told.charged
    words = drawn[1].split()
    assert words[1] == words[6] and guard(texts[0]) == default.privatize(texts[0], **FLUENT)


def test_one_charge_for_a_prompt(model, ledger, charges):
    guard = tem.prompts.guard(model, epsilon=2, ledger=ledger, budget=20)
    prompt = [SYSTEM, user("the film was wonderful"), user([{"type": "text", "text": "call me"}])]
    made, report = guard.privatize_report(prompt)
    assert (report.documents, report.words, report.spent, report.left) == (2, 6, 12, 8)
    assert report.private and [charge["words"] for charge in charges()] == [6]
    with pytest.raises(tem.BudgetError) as refused:
        guard(prompt)
    assert "film" not in str(refused.value) and len(charges()) == 1


def test_keywords(model):
    for refused in ("insecure_seed", "by", "missing", "progress"):
        with pytest.raises(TypeError):
            tem.prompts.guard(model, epsilon=1, **{refused: 1})
    with pytest.raises(TypeError, match="epsilon"):
        tem.prompts.guard(model)
    with pytest.raises(tem.RangeError):
        tem.prompts.guard(model, epsilon=0)


class Recorder(FakeListChatModel):
    """A chat model of LangChain that records what reaches it."""

    seen: list = []

    def _call(self, messages, *arguments, **options):
        self.seen.append([(message.type, message.content) for message in messages])
        return super()._call(messages, *arguments, **options)


def test_langchain(model, monkeypatch):
    """template | messages | guard | model: the model gets drawn words, or is not called."""
    monkeypatch.delenv("LANGSMITH_TRACING", raising=False)
    template = ChatPromptTemplate.from_messages([("system", "Answer in ONE sentence."),
                                                 ("user", "The {thing} was WONDERFUL.")])
    recorder = Recorder(responses=["yes"], seen=[])
    as_messages = RunnableLambda(lambda value: convert_to_openai_messages(value.to_messages()))
    guard = RunnableLambda(tem.prompts.guard(model, **SURE))
    chain = template | as_messages | guard | recorder
    assert chain.invoke({"thing": "FILM"}).content == "yes"
    assert recorder.seen == [[("system", "Answer in ONE sentence."),
                              ("human", "the film was wonderful")]]
    assert (guard | recorder).invoke("The FILM").content == "yes"
    assert recorder.seen.pop() == [("human", "the film")]

    named = [HumanMessage("the film", name="Anna")]
    with pytest.raises(tem.ArgumentError):
        (as_messages | guard | recorder).invoke(ChatPromptTemplate.from_messages(named).invoke({}))
    assert len(recorder.seen) == 1


def test_a_failing_draw_sends_nothing(model, monkeypatch):
    recorder = Recorder(responses=["yes"], seen=[])
    guard = tem.prompts.guard(model, **SURE)

    def fail(*arguments, **options):
        raise tem.DamagedError("the model is damaged")
    monkeypatch.setattr(tem.Model, "privatize_report", fail)
    for prompt in ("the film", [user("the film")]):
        with pytest.raises(tem.DamagedError):
            (RunnableLambda(guard) | recorder).invoke(prompt)
    assert recorder.seen == []


def test_example(model):
    """The service sees each question once, with as many words, and the same in the history."""
    shown = subprocess.run([sys.executable, EXAMPLE, "2"], check=True, capture_output=True,
                           text=True, env={**os.environ, "TEM_MODEL": model.path}).stdout
    lines = [line.strip() for line in shown.splitlines() if line != "sent:"]
    assert [line.split(":")[0] for line in lines] == [
        "system", "user", "system", "user", "assistant", "user"]
    assert lines[1] == lines[3] and len(lines[1].split()) == 1 + 8 and len(lines[5].split()) == 4
    assert "doctor" not in shown
