async def post(request):
    message = {"role": "assistant", "content": "word"}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 0,
        "model": "gpt",
        "choices": [choice],
    }
