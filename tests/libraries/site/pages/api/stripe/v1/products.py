async def get(request):
    product = {"object": "product", "id": "prod_1", "name": "word"}
    return {"object": "list", "url": "/v1/products", "has_more": False, "data": [product]}
