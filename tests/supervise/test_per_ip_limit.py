"""Connections of one address: who is limited, by how much, and who is not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fxtrio.server.supervise.application.proxy_headers import Proxies, ProxyUnknown
from fxtrio.server.supervise.listening.per_ip_limit import PUBLIC_MOST, Addresses

PUBLIC = ["1.2.3.4", "2a00:1450:4001::1", "::ffff:1.2.3.4"]
INNER = ["127.0.0.1", "10.1.2.3", "192.168.0.9", "169.254.1.1", "::1", "fd00::1", "fe80::1%eth0"]


def entered(addresses: Addresses, address: str, times: int) -> int:
    return sum(addresses.enter(address) for _ in range(times))


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_address_has_a_thousand_connections(address: str) -> None:
    addresses = Addresses(None, Proxies(()))

    assert entered(addresses, address, PUBLIC_MOST + 5) == PUBLIC_MOST == 1000
    addresses.leave(address)
    assert entered(addresses, address, 2) == 1


@pytest.mark.parametrize("address", INNER)
def test_addresses_that_are_not_public_are_not_limited(address: str) -> None:
    assert entered(Addresses(None, Proxies(())), address, 3000) == 3000


@pytest.mark.parametrize("address", PUBLIC)
def test_a_trusted_proxy_is_not_limited(address: str) -> None:
    proxies = Proxies(["1.2.3.0/24", "2a00::/16"])

    assert entered(Addresses(None, proxies), address, 3000) == 3000


@pytest.mark.parametrize("address", PUBLIC + INNER)
def test_a_number_that_was_chosen_holds_for_all(address: str) -> None:
    assert entered(Addresses(3, Proxies(["*"])), address, 10) == 3


def test_one_address_takes_nothing_from_another() -> None:
    addresses = Addresses(1, Proxies(()))

    assert addresses.enter("1.2.3.4")
    assert addresses.enter("1.2.3.5")
    assert not addresses.enter("1.2.3.4")


def test_a_network_of_64_bits_counts_as_one_address() -> None:
    addresses = Addresses(1, Proxies(()))

    assert addresses.enter("2001:db8:1:2::1")
    assert not addresses.enter("2001:db8:1:2:ffff::9")
    assert addresses.enter("2001:db8:1:3::1")


def test_unix_sockets_have_no_addresses() -> None:
    addresses = Addresses(1, Proxies(()))

    assert entered(addresses, "", 100) == 100
    addresses.leave("")


@given(st.lists(st.sampled_from(["1.1.1.1", "8.8.8.8", "::1", "2a00::1"])), st.integers(1, 4))
def test_no_state_of_disconnected_clients_stays(visits: list[str], most: int) -> None:
    addresses = Addresses(most, Proxies(()))
    inside = [address for address in visits if addresses.enter(address)]

    assert sum(addresses.statistics().values()) == len(inside)
    assert all(count <= most for count in addresses.statistics().values())
    for address in inside:
        addresses.leave(address)
    assert addresses.statistics() == {}


@pytest.mark.parametrize("name", ["", "localhost", "10.0.0.0/99", "10.0.0.1:80"])
def test_a_proxy_that_is_no_address_is_an_error(name: str) -> None:
    with pytest.raises(ProxyUnknown) as error:
        Proxies(["10.0.0.1", name])
    assert error.value.name == name
