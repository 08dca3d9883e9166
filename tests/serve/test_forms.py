"""Forms without JavaScript: what their page is filled with again, and where a browser ends up."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fx.testing import Client, TestResponse, open_app
from fxtrio.serve.request.bodies.body import MAX_REFILL, is_private, refill_values
from tests.built import build, open_built
from tests.trees import page, write_tree

PAGE = """
    @action
    async def sign(request):
        raise ActionError("no", 409)

    @action
    async def erase(request):
        return {}
    """
PRIVATE = """
    password newPassword passwd user_passwd pwd userpwd dbPwd pass pin PIN userPIN PINCode
    card-pin card.pin pin2 otp otpCode totp cvv cvv2 cardCvv CVC card[cvc] csc ssn iban IBAN
    accessToken clientSecret api_key apiKey API-KEY security_code securityCode one-time-code
    card_number passCode tan _anything
"""
PUBLIC = """
    name email pinned shipping spinner opinion pinboard compass passage passenger bypass
    tangent stand hotpot company city zip_code code number key keyboard comment q Title iso
    bonus
"""
SIGN = "/api/__actions/notes/a%20b/sign"


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    write_tree(tmp_path, {"pages/notes/[id].fxl": page(PAGE), "pages/still.fxl": page("")})
    async with open_app(tmp_path, base_url="/app", mode="production") as opened:
        yield opened


def values_in(response: TestResponse) -> Any:
    """Return what the document of a failed form says was typed."""
    state = response.text.partition('id="__fx_data">')[2].partition("</script>")[0]
    return json.loads(state)["actionData"]["values"]


async def test_a_form_that_failed_has_what_was_typed(client: Client) -> None:
    typed = {"name": "Ada </script>", "message": ""}
    response = await client.post(f"/app{SIGN}", data=typed, headers={"accept": "text/html"})
    assert response.status == 409
    assert values_in(response) == typed


async def test_of_a_field_that_comes_twice_both_values_come_back(client: Client) -> None:
    headers = {"accept": "text/html", "content-type": "application/x-www-form-urlencoded"}
    response = await client.post(f"/app{SIGN}", content=b"tag=a&tag=b", headers=headers)
    assert values_in(response) == {"tag": ["a", "b"]}


async def test_passwords_tokens_and_files_do_not_come_back(client: Client) -> None:
    response = await client.post(
        f"/app{SIGN}",
        content=(
            b'--b\r\nContent-Disposition: form-data; name="name"\r\n\r\nAda\r\n'
            b'--b\r\nContent-Disposition: form-data; name="newPassword"\r\n\r\nhunter2\r\n'
            b'--b\r\nContent-Disposition: form-data; name="_csrf_token"\r\n\r\nhunter2\r\n'
            b'--b\r\nContent-Disposition: form-data; name="cv"; filename="a.txt"\r\n\r\n'
            b"hunter2\r\n--b--\r\n"
        ),
        headers={"accept": "text/html", "content-type": "multipart/form-data; boundary=b"},
    )
    assert response.status == 409
    assert "hunter2" not in response.text
    assert values_in(response) == {"name": "Ada"}


@given(st.dictionaries(st.text(), st.text() | st.lists(st.text())))
def test_fields_with_private_names_are_not_refilled(values: dict[str, str | list[str]]) -> None:
    refilled = refill_values({**values, "Password2": "x", "api_TOKEN": "x", "_pin": "x"})
    assert not any(is_private(name) for name in refilled)
    assert refilled.items() <= values.items()


@pytest.mark.parametrize("name", PRIVATE.split())
def test_names_of_secrets_are_private(name: str) -> None:
    assert is_private(name)


@pytest.mark.parametrize("name", PUBLIC.split())
def test_other_names_are_not(name: str) -> None:
    assert not is_private(name)


UI = """
import { Form } from 'fx/client';

const KIND = 'password';

function Hidden({ values }) {
  return <input name={'wor"d'} type={KIND} defaultValue={values['wor"d']} />;
}

export default function Page() {
  return (
    <Form action="sign">
      {({ values }) => (
        <>
          <input name="name" defaultValue={values.name} />
          <Hidden values={values} />
          <input type="password" name="magic" defaultValue={values.magic} />
        </>
      )}
    </Form>
  );
}
"""


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    files = {"pages/index.fxl": page(PAGE, UI)}
    return build(write_tree(tmp_path_factory.mktemp("rendered"), files))


@pytest.mark.parametrize("memo", [True, False])
async def test_password_fields_are_not_refilled(rendered: Path, memo: bool) -> None:
    typed = {"name": "Ada", "magic": "hunter2", 'wor"d': "hunter3"}
    async with open_built(rendered, ssr={"memo": memo}) as client:
        headers = {"accept": "text/html"}
        answer = await client.post("/api/__actions/index/sign", data=typed, headers=headers)
    assert answer.status == 409
    assert "hunter" not in answer.text
    assert 'value="Ada"' in answer.text
    assert values_in(answer) == {"name": "Ada"}


def test_a_form_that_is_too_large_for_a_page_comes_back_in_part() -> None:
    long = "<" * (MAX_REFILL - 10)
    values = {"first": "a", "long": long, "longer": long, "last": ["b"]}
    assert refill_values(values) == {"first": "a", "long": long}
    assert refill_values({"long": "<" * MAX_REFILL, "last": ["b", "c"]}) == {"last": ["b", "c"]}


@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_a_browser_that_reloads_after_a_form_goes_back_to_its_page(
    client: Client, method: str
) -> None:
    headers = {"accept": "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"}
    response = await client.request(method, f"/app{SIGN}", headers=headers)
    assert (response.status, response.headers["location"]) == (303, "/app/notes/a%20b")
    assert response.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    ("url", "headers"),
    [(SIGN, {"accept": "*/*"}), (SIGN, {}), ("/api/__actions/x/sign", {"accept": "text/html"})],
)
async def test_whoever_asks_for_no_page_learns_that_actions_are_posted(
    client: Client, url: str, headers: dict[str, str]
) -> None:
    response = await client.get(f"/app{url}", headers=headers)
    assert (response.status, response.headers["allow"]) == (405, "POST")


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("notes/1/sing", "pages/notes/[id].fxl has no action 'sing'. Did you mean 'sign'? It has"),
        ("notes/1/xyz", "pages/notes/[id].fxl has no action 'xyz'. It has erase, sign."),
        ("still/sign", "pages/still.fxl has no actions."),
        ("nowhere/sign", "no page has the path '/nowhere'."),
    ],
)
async def test_in_development_a_missing_action_names_those_that_there_are(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, url: str, message: str
) -> None:
    write_tree(tmp_path, {"pages/notes/[id].fxl": page(PAGE), "pages/still.fxl": page("")})
    async with open_app(tmp_path, mode="development") as client:
        response = await client.post(f"/api/__actions/{url}", json={})
    assert response.status == 404
    assert response.json()["error"] == "Action not found"
    hint = response.json()["data"]["hint"]
    assert hint.startswith(f"Action not found: {message}")
    assert hint in caplog.text
