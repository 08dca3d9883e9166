"""What one process packs, another one unpacks; nothing else is let in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fxtrio.realtime import Frame, Member
from fxtrio.realtime.stores.wire import BrokerMessageUnreadable, News, RemoteMember, pack, unpack

infos = st.none() | st.text() | st.dictionaries(st.text(), st.integers(-(2**53), 2**53))


@given(st.text())
def test_a_text_message_comes_out_as_it_went_in(text):
    frame = unpack(pack(Frame(text.encode(), binary=False)))
    assert isinstance(frame, Frame)
    assert (frame.payload.decode(), frame.binary) == (text, False)


@given(st.binary())
def test_a_binary_message_comes_out_as_it_went_in(data):
    frame = unpack(pack(Frame(data, binary=True)))
    assert isinstance(frame, Frame)
    assert (frame.payload, frame.binary) == (data, True)


@given(st.booleans(), st.text(), st.text(), infos)
def test_news_of_a_member_comes_out_as_it_went_in(joined, epoch, member_id, info):
    news = News(joined, RemoteMember(epoch, Member(member_id, info)))
    assert unpack(pack(news)) == news


@given(st.binary())
def test_whatever_comes_is_understood_or_rejected(data):
    try:
        message = unpack(data)
    except BrokerMessageUnreadable as error:
        assert error.data == data or data.endswith(error.data)
    else:
        assert unpack(pack(message)) == message or isinstance(message, Frame)


@pytest.mark.parametrize("data", [b"", b"x", b"t\xff", b"j", b"j{}", b'l["a",1,2]'])
def test_what_fxtrio_cannot_have_sent_is_rejected(data):
    with pytest.raises(BrokerMessageUnreadable, match="a separate prefix"):
        unpack(data)
