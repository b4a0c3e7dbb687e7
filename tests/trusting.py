"""The list of what a user trusts, for tests that name the default model by $TEM_MODEL."""
import json
import os
import subprocess


def trust_what_came_with(command, state):
    """Beside a named model nothing is trusted by its place, so the list in the state directory
    `state` gets the hashes of the model and the language model that came with the command."""
    unnamed = {name: value for name, value in os.environ.items() if name != "TEM_MODEL"}
    told = [json.loads(subprocess.check_output([command, "info", "--json", *named], env=unnamed))
            for named in ([], ["english"])]
    assert all(each["trusted"] for each in told), told
    trusted = state / "tem/trusted"
    trusted.parent.mkdir(mode=0o700)
    trusted.write_text("".join(each["hash"] + "\n" for each in told))
    trusted.chmod(0o600)
