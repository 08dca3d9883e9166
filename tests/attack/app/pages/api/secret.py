"""An endpoint that guards itself."""

import watch

from fxtrio.plugins.auth import require_user


async def endpoint(request):
    refusal = await require_user(request)
    return refusal if refusal is not None else watch.seen_by(request, request.state.user)
