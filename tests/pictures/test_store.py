"""Pictures of a project: which files each becomes, and why some cannot be created."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import time
import zlib
from io import BytesIO
from pathlib import Path
from typing import Any

import attrs
import pytest
from PIL import Image, ImageCms

from fxtrio.build_folder import LinkInTheWay
from fxtrio.pictures.pixels import PictureInvalid
from fxtrio.pictures.process import answer_to
from fxtrio.pictures.store import FOLDER, Picture, PictureStore, candidates_of, display_size

RED, BLUE = (255, 0, 0), (0, 0, 255)


def halves(width: int = 40, height: int = 20, mode: str = "RGB") -> Image.Image:
    """Return a picture that is red on the left and blue on the right."""
    image = Image.new("RGB", (width, height), RED)
    image.paste(BLUE, (width // 2, 0, width, height))
    return image.convert(mode)


def opened(file: Path) -> Image.Image:
    image = Image.open(BytesIO(file.read_bytes()))
    image.load()
    return image


@attrs.frozen
class Project:
    store: PictureStore

    def save(self, name: str, image: Image.Image, **options: Any) -> Path:
        file = self.store.root / name
        image.save(file, **options)
        return file

    def created(self, file: Path, most: int | None = None) -> tuple[Picture, list[Image.Image]]:
        """Return a picture with all of its files."""
        picture = self.store.find(file, most, "all")
        folder = self.store.folder_of(picture)
        return picture, [opened(folder / one.name) for one in picture.candidates]

    def cause(self, file: Path) -> str:
        with pytest.raises(PictureInvalid) as caught:
            self.store.find(file, None)
        return str(caught.value)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(PictureStore(tmp_path.resolve()))


def is_near(pixel: object, wanted: tuple[int, ...]) -> bool:
    assert isinstance(pixel, tuple)
    return all(abs(a - b) < 40 for a, b in zip(pixel, wanted, strict=False))


@pytest.mark.parametrize(
    ("width", "most", "avif", "webp"),
    [
        (4000, None, [320, 480, 720, 1080, 1620, 2160], [480, 1080, 2160]),
        (1600, None, [320, 480, 720, 1080, 1600], [320, 720, 1600]),
        (1600, 400, [320, 480, 800], [320, 800]),
        (40, None, [40], [40]),
        (100, 96, [100], [100]),
    ],
)
def test_no_file_is_wider_than_the_picture_or_than_screens_show(
    width: int, most: int | None, avif: list[int], webp: list[int]
) -> None:
    found = candidates_of("lake", width, most)

    assert [one.width for one in found if one.type == "image/avif"] == avif
    assert [one.name for one in found if one.type == "image/webp"] == [
        f"lake-{one}.webp" for one in webp
    ]


def test_a_width_leads_to_the_height() -> None:
    assert display_size(4000, 3000, 400) == (400, 300)
    assert display_size(40, 30, 400) == (40, 30)
    assert display_size(4000, 1, 10) == (10, 1)


def test_each_file_has_its_format_and_width_and_nothing_about_the_camera(
    project: Project,
) -> None:
    exif = Image.Exif()
    exif[0x010F] = "Secret camera"
    picture, files = project.created(project.save("A lake.JPG", halves(400, 200), exif=exif))

    assert (picture.width, picture.height) == (400, 200)
    assert picture.placeholder.startswith("data:image/webp;base64,")
    assert [(one.format, one.size) for one in files] == [
        ("AVIF", (320, 160)),
        ("AVIF", (400, 200)),
        ("WEBP", (400, 200)),
    ]
    folder = project.store.folder_of(picture)
    assert {file.name for file in folder.iterdir()} == {
        "picture.json",
        "a-lake-320.avif",
        "a-lake-400.avif",
        "a-lake-400.webp",
    }
    assert not any(b"camera" in file.read_bytes() for file in folder.iterdir())


def test_a_picture_that_lies_on_its_side_is_put_upright(project: Project) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # the top of the scene is on the right of the file
    picture, files = project.created(project.save("a.jpg", halves(40, 20), exif=exif))

    assert (picture.width, picture.height) == (20, 40)
    for one in files:
        assert one.size == (20, 40)
        assert is_near(one.convert("RGB").getpixel((10, 5)), RED)
        assert is_near(one.convert("RGB").getpixel((10, 35)), BLUE)


@pytest.mark.parametrize("mode", ["CMYK", "L", "1", "P", "I;16"])
def test_every_kind_of_pixels_becomes_rgb(project: Project, mode: str) -> None:
    if mode == "I;16":
        image = Image.new("I;16", (40, 20), 0)
        image.paste(65535, (20, 0, 40, 20))
    else:
        image = halves(40, 20, mode)
    _, files = project.created(project.save("a.jpg" if mode == "CMYK" else "a.png", image))

    assert {one.mode for one in files} == {"RGB"}
    left, right = (files[0].getpixel((x, 10)) for x in (5, 35))
    if mode in ("CMYK", "P"):
        assert is_near(left, RED)
        assert is_near(right, BLUE)
    elif mode == "I;16":
        assert is_near(left, (0, 0, 0))
        assert is_near(right, (255, 255, 255))
    else:
        assert left != right


def test_colours_of_a_profile_are_converted(project: Project) -> None:
    srgb = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    other = srgb.replace("sRGB".encode("utf-16-be"), "swap".encode("utf-16-be"))
    for tag, new in ((b"rXYZ", b"????"), (b"bXYZ", b"rXYZ"), (b"????", b"bXYZ")):
        other = other.replace(tag, new)  # what it calls red is blue

    for name, profile, left in (("a", srgb, RED), ("b", other, BLUE), ("c", b"damaged", RED)):
        _, files = project.created(project.save(f"{name}.png", halves(), icc_profile=profile))
        assert is_near(files[0].getpixel((5, 10)), left), name
        assert "icc_profile" not in files[0].info


def test_a_transparent_picture_stays_so_and_has_no_placeholder(project: Project) -> None:
    image = Image.new("RGBA", (40, 20), (0, 0, 0, 0))
    image.paste((255, 0, 0, 255), (20, 0, 40, 20))
    picture, files = project.created(project.save("a.png", image))
    opaque, _ = project.created(project.save("b.png", halves(mode="RGBA")))

    assert picture.placeholder == ""
    assert opaque.placeholder != ""
    for one in files:
        assert one.convert("RGBA").getpixel((5, 10))[3] < 10  # type: ignore[index]
        assert one.convert("RGBA").getpixel((35, 10))[3] > 245  # type: ignore[index]


def test_an_animation_is_its_own_only_file(project: Project) -> None:
    file = project.store.root / "a.gif"
    halves().save(file, save_all=True, append_images=[Image.new("RGB", (40, 20), BLUE)])
    picture, _ = project.created(file)

    assert [(one.name, one.type, one.width) for one in picture.candidates] == [
        ("a.gif", "image/gif", 40)
    ]
    assert (project.store.folder_of(picture) / "a.gif").read_bytes() == file.read_bytes()


def png_that_claims(width: int, height: int) -> bytes:
    """Return a PNG of few bytes that would take all of the memory."""
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = [(b"IHDR", head), (b"IDAT", zlib.compress(b"")), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks
    )


@pytest.mark.parametrize("side", [9_000, 60_000])
def test_a_bomb_is_never_decoded(project: Project, side: int) -> None:
    file = project.store.root / "a.png"
    file.write_bytes(png_that_claims(side, side))

    assert "80,000,000 pixels are allowed" in project.cause(file)


def test_a_file_that_is_no_picture_is_rejected(
    project: Project, tmp_path_factory: pytest.TempPathFactory
) -> None:
    root = project.store.root
    (root / "a.svg").write_text("<svg/>")
    assert "it is an SVG" in project.cause(root / "a.svg")
    (root / "a.jpg").write_text("text")
    assert "it is not a JPEG" in project.cause(root / "a.jpg")
    whole = project.save("b.jpg", halves(400, 200)).read_bytes()
    (root / "b.jpg").write_bytes(whole[: len(whole) // 2])
    assert "it is damaged" in project.cause(root / "b.jpg")
    assert "it cannot be read" in project.cause(root / "none.jpg")
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "c.png"
    halves().save(elsewhere)
    (root / "c.png").symlink_to(elsewhere)
    assert "it is outside of the project" in project.cause(root / "c.png")
    assert "it is outside of the project" in project.cause(root / ".." / elsewhere.name)


def test_nothing_is_written_through_a_link(
    project: Project, tmp_path_factory: pytest.TempPathFactory
) -> None:
    (project.store.root / ".fx").symlink_to(tmp_path_factory.mktemp("elsewhere"))

    with pytest.raises(LinkInTheWay):
        project.store.find(project.save("a.png", halves()), None)


def test_only_changed_pictures_are_encoded_again(project: Project) -> None:
    file = project.save("a.png", halves())
    picture, _ = project.created(file)
    folder = project.store.folder_of(picture)
    before = {one.name: one.stat().st_ino for one in folder.iterdir()}
    os.utime(file)

    project.created(file)
    assert {one.name: one.stat().st_ino for one in folder.iterdir()} == before

    halves(60, 20).save(file)
    other, _ = project.created(file)
    assert other.key != picture.key


def test_two_caches_have_the_same_bytes(project: Project, tmp_path: Path) -> None:
    texts = []
    for name in ("one", "two"):
        root = tmp_path / name
        root.mkdir()
        one = Project(PictureStore(root.resolve()))
        picture, _ = one.created(one.save("a.png", halves(400, 200)))
        folder = one.store.folder_of(picture)
        texts.append({file.name: file.read_bytes() for file in folder.iterdir()})

    assert texts[0] == texts[1]


def test_what_nothing_asks_for_is_removed_after_a_month(project: Project) -> None:
    requested, _ = project.created(project.save("a.png", halves()))
    left, _ = project.created(project.save("b.png", halves()))
    month_ago = time.time() - 31 * 24 * 3600
    os.utime(project.store.folder_of(left) / "picture.json", (month_ago, month_ago))

    project.store.forget_unused()

    assert [one.name for one in (project.store.root / FOLDER).iterdir()] == [requested.key]


def test_the_process_describes_and_encodes_the_requested_pictures(project: Project) -> None:
    file = project.save("a.png", halves(400, 200))
    answer = answer_to(project.store, {"file": str(file), "most": None, "make": []})
    folder = Path(answer["folder"])
    assert [one.name for one in folder.iterdir()] == ["picture.json"]
    described = (folder / "picture.json").read_bytes()
    assert json.loads(json.dumps(answer["picture"])) == json.loads(described)

    answer_to(project.store, {"file": str(file), "most": None, "make": ["a-320.avif"]})
    assert {one.name for one in folder.iterdir()} == {"picture.json", "a-320.avif"}

    (folder / "picture.json").write_bytes(b"[]")
    again = answer_to(project.store, {"file": str(file), "most": None, "make": []})
    assert (again, (folder / "picture.json").read_bytes()) == (answer, described)

    missing = answer_to(None, {"file": str(file), "most": None, "make": []})
    assert missing["problem"]["remedy"] == "Run \"pip install 'fxtrio[pictures]'\""


def test_a_picture_that_no_encoder_takes_is_an_error_when_it_is_described(
    project: Project,
) -> None:
    tall = project.save("tall.png", Image.new("RGB", (100, 17_000)))
    with pytest.raises(PictureInvalid, match=r"a side may have 16,383\. Cut it"):
        project.store.find(tall, None)
    thin, _ = project.created(project.save("thin.png", Image.new("RGB", (10, 16_000))))
    assert len(thin.placeholder) < 1000


def test_a_defect_ends_the_process_so_that_nobody_waits_for_it(project: Project) -> None:
    command = [sys.executable, "-m", "fxtrio.pictures.process", str(project.store.root)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None and process.stderr is not None
        process.stdin.write(b'{"id": 1}\n')
        process.stdin.flush()
        assert b"KeyError" in process.stderr.read()

    assert process.returncode == 1
