"""A container that is read with a signature behind its address."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone

from tests.storage.stores import AZURE_ACCOUNT, AZURE_KEY, Store, azure_store


def signature_for(container: str, **allowed: bool) -> str:
    """A signature that is good for an hour."""
    from azure.storage.blob import ContainerSasPermissions, generate_container_sas

    return generate_container_sas(
        AZURE_ACCOUNT,
        container,
        account_key=AZURE_KEY,
        permission=ContainerSasPermissions(**allowed),
        expiry=datetime.now(timezone.utc) + timedelta(hours=1),
    )


@contextmanager
def signed_container(server: str) -> Iterator[tuple[str, str, Store]]:
    """Its address without the proxy, a signature that allows reading and listing, and the store."""
    with azure_store(server) as store:
        yield f"{server}/{AZURE_ACCOUNT}/{store.bucket}", signature_for(store.bucket, read=True, list=True), store
