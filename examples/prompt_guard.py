#!/usr/bin/env python3
"""A chat in which the service gets drawn words only. The service is a fake: this runs offline.

usage: prompt_guard.py EPSILON, such as 3
"""
import sys

import tem
import tem.prompts


class Service:
    """Stands for the client of a language model, and prints what reaches it."""

    def create(self, messages):
        for message in messages:
            print(f"  {message['role']:>9}: {message['content']}")
        return f"This is answer {len(messages) // 2}."


def main():
    try:
        epsilon = float(sys.argv[1])
    except (IndexError, ValueError):
        sys.exit(__doc__)
    # The service has written the assistant's messages, so it may see them again.
    guard = tem.prompts.guard(epsilon=epsilon, public=["system", "assistant"])
    service, history = Service(), [{"role": "system", "content": "Answer in one sentence."}]
    for question in ("Which film about a doctor should I watch?", "Is it sad?"):
        try:
            # Each question is drawn for once. The history keeps the drawn words: to guard the
            # question again with the next one would show the service a second draw.
            history += guard([{"role": "user", "content": question}])
        except tem.Error as refused:
            sys.exit(f"prompt_guard: nothing was sent: {refused}")
        print("sent:")
        history.append({"role": "assistant", "content": service.create(history)})


if __name__ == "__main__":
    main()
