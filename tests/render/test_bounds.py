from __future__ import annotations

import subprocess
import sys
import time

import pytest

from agentctx_nb.render.bounds import cell_text, cut, fitting, visible
from agentctx_nb.secrecy.secret_mask import SecretMask
from tests.hostile import MASKED, SECRET, VALUES, BrokenRepr, mask


@pytest.mark.parametrize("label", VALUES)
def test_any_value_becomes_short_text_on_one_line(label):
    value = VALUES[label]()
    shown = cell_text(value, mask=mask, most=120)
    assert len(shown) <= 120
    assert "\n" not in shown
    shown.encode("utf-8")
    assert SECRET[:10] not in shown
    assert shown == cell_text(value, mask=mask, most=120)


def test_a_string_stands_for_itself_and_is_quoted_inside_of_a_container():
    assert cell_text("it's") == "it's"
    assert cell_text(["it's"]) == '["it\'s"]'


def test_a_secret_is_masked_before_the_text_is_cut():
    text = "x" * 110 + SECRET
    assert cell_text(text, mask=mask) == "x" * 110 + MASKED
    assert "sk-" not in cell_text([text], mask=mask)


def test_a_secret_in_a_number_is_masked():
    assert cell_text([41873125], mask=lambda text: text.replace("41873125", "***")) == "[***]"


def test_a_broken_repr_is_named_without_its_message():
    assert cell_text(BrokenRepr()) == "<BrokenRepr: its repr raised RuntimeError>"


def test_a_cycle_is_shown_where_it_closes():
    value = {"name": "a"}
    value["self"] = value
    assert cell_text(value) == "{'name': 'a', 'self': {cycle}}"


def test_the_same_container_twice_is_no_cycle():
    pair = [1]
    assert cell_text([pair, pair]) == "[[1], [1]]"


def test_addresses_are_left_out_of_the_text_of_objects():
    assert cell_text([object()]) == "[<object object>]"
    assert " at 0x" not in cell_text(test_addresses_are_left_out_of_the_text_of_objects)


def test_an_address_a_user_wrote_stays():
    assert cell_text("fault at 0x7ffe01") == "fault at 0x7ffe01"


def test_sets_come_out_in_order_whatever_the_hash_seed():
    code = "from agentctx_nb.render.bounds import cell_text; print(cell_text({'b', 'a', 'c', 'd', ('x', 1)}))"
    seen = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "PYTHONIOENCODING": "utf-8"},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert seen == {"{'a', 'b', 'c', 'd', ('x', 1)}\n"}


def test_a_large_set_is_counted():
    assert cell_text(set(range(5_000))) == "{… 5,000 items}"


def test_arrays_and_frames_are_named_by_shape_and_numpy_numbers_are_bare():
    numpy = pytest.importorskip("numpy")
    pandas = pytest.importorskip("pandas")
    assert cell_text(numpy.zeros((3, 4))) == "<ndarray 3 × 4>"
    assert cell_text(pandas.DataFrame({"a": range(2_000)})) == "<DataFrame 2,000 × 1>"
    assert cell_text(numpy.float64(1.5)) == "1.5"
    assert cell_text({"score": numpy.float32(0.5)}) == "{'score': 0.5}"


def test_what_hides_or_reorders_text_is_written_as_an_escape():
    assert visible("a\u202eb\x1b[2J\u200b\ud800\U000e0041") == r"a\u202eb\x1b[2J\u200b\ud800\U000e0041"
    assert visible("one\r\ntwo\tthree") == "one\ntwo\tthree"
    assert visible("👩\u200d💻 नमस्ते") == "👩\u200d💻 नमस्ते"


def test_what_is_cut_ends_in_an_ellipsis():
    assert cut("forecast", 8) == "forecast"
    assert cut("forecast", 7) == "foreca…"


def test_pieces_are_taken_while_their_bytes_fit():
    assert list(fitting(["ab", "é", "c"], 4)) == ["ab", "é"]
    assert list(fitting(["abcde"], 4)) == []


def test_ten_megabytes_in_a_container_are_written_at_once():
    value = {"pages": ["x" * 1_000_000 for _ in range(10)], "rows": list(range(1_000_000))}
    start = time.process_time()
    cell_text(value)
    assert time.process_time() - start < 0.2


def test_a_secret_that_begins_in_view_and_ends_far_beyond_is_hidden():
    mask = SecretMask()
    secret = "".join(f"{number:x}-" for number in range(12_000))
    assert len(secret) > 50_000
    mask.add("LONG", secret)
    shown = cell_text("before " + secret + " after" * 100_000, mask=mask)
    assert shown.startswith("before [secret LONG] after")


def test_a_text_that_is_hidden_nearly_whole_is_still_filled_up():
    mask = SecretMask()
    mask.add("KEY", "s3cr3t-" + "x" * 5_000)
    shown = cell_text(("s3cr3t-" + "x" * 5_000 + " ") * 20 + "the end", mask=mask, most=1_000)
    assert shown.endswith("the end")
