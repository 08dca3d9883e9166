"""The same work on Django: HTML from its templates, JSON for what is no page."""

import json
from pathlib import Path

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.middleware.csrf import get_token
from django.shortcuts import render
from django.urls import path

settings.configure(
    ALLOWED_HOSTS=["127.0.0.1"],
    SECRET_KEY="a secret key of the benchmark",
    ROOT_URLCONF=__name__,
    # Those of a new project that need no database.
    MIDDLEWARE=[
        "django.middleware.security.SecurityMiddleware",
        "django.middleware.common.CommonMiddleware",
        "django.middleware.csrf.CsrfViewMiddleware",
        "django.middleware.clickjacking.XFrameOptionsMiddleware",
    ],
    TEMPLATES=[
        {
            "BACKEND": "django.template.backends.django.DjangoTemplates",
            "DIRS": [Path(__file__).with_name("templates")],
        }
    ],
)

ROWS = [
    {
        "id": number,
        "name": f"Person {number}",
        "email": f"person{number}@example.com",
        "amount": number * 1.25,
    }
    for number in range(1, 201)
]


def hello(request: HttpRequest) -> HttpResponse:
    return render(request, "hello.html", {"message": "Hello"})


def table(request: HttpRequest) -> HttpResponse:
    return render(request, "table.html", {"rows": ROWS})


def hello_data(request: HttpRequest) -> HttpResponse:
    return JsonResponse({"message": "Hello"})


def table_data(request: HttpRequest) -> HttpResponse:
    return JsonResponse({"rows": ROWS})


def echo(request: HttpRequest) -> HttpResponse:
    body = json.loads(request.body)
    return JsonResponse(
        {"ok": True, "name": body["name"]}, json_dumps_params={"separators": (",", ":")}
    )


def token(request: HttpRequest) -> HttpResponse:
    return HttpResponse(get_token(request))  # sets the cookie, too


urlpatterns = [
    path("hello", hello),
    path("table", table),
    path("hello.json", hello_data),
    path("table.json", table_data),
    path("echo", echo),
    path("token", token),
]
app = get_wsgi_application()
