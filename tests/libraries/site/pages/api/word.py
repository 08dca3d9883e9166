async def get(request):
    return {"word": "word"}


async def post(request):
    return {"word": "word"}
