"""An endpoint that guards itself."""

import watch

from fxtrio.plugins.auth import require_user


async def endpoint(request):
    rejection = await require_user(request)
    return rejection if rejection is not None else watch.seen_by(request, request.state.user)
