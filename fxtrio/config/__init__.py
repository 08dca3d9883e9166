"""The settings of an app: `fx.config.json`, `FX_…` variables and keyword arguments.

`load_config(root)` gives a frozen `Config`; everything else takes one and never reads
the environment itself.
Begin with `model`; `load` joins the layers.
"""

from fxtrio.config.database import DatabaseConfig
from fxtrio.config.env_files import (
    env_files,
    load_env_files,
    read_env_files,
    renew_env_files,
)
from fxtrio.config.load import CONFIG_FILE, is_named, join, load_config, locate, read_config
from fxtrio.config.model import (
    Config,
    CsrfConfig,
    DevConfig,
    JobsConfig,
    LimitsConfig,
    LlmsConfig,
    ObservabilityConfig,
    PluginConfig,
    SsrConfig,
    TasksConfig,
    TimeoutsConfig,
)
from fxtrio.config.realtime import RealtimeConfig
from fxtrio.config.route_settings import CorsConfig, RateLimitConfig, RouteMiddlewareConfig

__all__ = [
    "CONFIG_FILE",
    "Config",
    "CorsConfig",
    "CsrfConfig",
    "DatabaseConfig",
    "DevConfig",
    "JobsConfig",
    "LimitsConfig",
    "LlmsConfig",
    "ObservabilityConfig",
    "PluginConfig",
    "RateLimitConfig",
    "RealtimeConfig",
    "RouteMiddlewareConfig",
    "SsrConfig",
    "TasksConfig",
    "TimeoutsConfig",
    "env_files",
    "is_named",
    "join",
    "load_config",
    "load_env_files",
    "locate",
    "read_config",
    "read_env_files",
    "renew_env_files",
]
