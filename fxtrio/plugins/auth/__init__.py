"""Email and password: the auth plugin.

Name it ``"auth"`` in ``plugins``. ``request.state.user`` is then a `User` or None, and
`require_user` guards pages and actions. Needs ``fxtrio[auth]``.
Begin with `plugin`, which puts the others together; the rules are in `service`.
"""

from fxtrio.plugins.auth.models import Rejection, SignedIn, User
from fxtrio.plugins.auth.plugin import AuthPlugin
from fxtrio.plugins.auth.registration.mail import Email
from fxtrio.plugins.auth.service import AuthService, get_auth
from fxtrio.plugins.auth.sessions.guards import require_user
from fxtrio.plugins.auth.settings import Argon2Settings, AuthSettings
from fxtrio.plugins.auth.storage.interface import AuthStorage, StorageStatistics

__all__ = [
    "Argon2Settings",
    "AuthPlugin",
    "AuthService",
    "AuthSettings",
    "AuthStorage",
    "Email",
    "Rejection",
    "SignedIn",
    "StorageStatistics",
    "User",
    "get_auth",
    "require_user",
]
