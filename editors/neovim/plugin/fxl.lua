-- Starts `fx lsp` for page files, the one of the project's `.venv` before that on the PATH.

local function root_of(file)
  for _, name in ipairs({ "fx.config.json", "pages" }) do
    local folder = vim.fn.fnamemodify(file, ":h")
    while folder ~= vim.fn.fnamemodify(folder, ":h") do
      local found = folder .. "/" .. name
      if vim.fn.filereadable(found) == 1 or vim.fn.isdirectory(found) == 1 then
        return folder
      end
      folder = vim.fn.fnamemodify(folder, ":h")
    end
  end
  return vim.fn.getcwd()
end

local function command(root)
  if vim.g.fx_command then
    return vim.g.fx_command
  end
  local own = root .. "/.venv/bin/fx"
  return { vim.fn.executable(own) == 1 and own or "fx", "lsp" }
end

local clients = {}

vim.api.nvim_create_autocmd("FileType", {
  pattern = "fxl",
  callback = function(event)
    local root = root_of(vim.api.nvim_buf_get_name(event.buf))
    local config = {
      name = "fx",
      cmd = command(root),
      root_dir = root,
      init_options = vim.g.fx_options,
    }
    if vim.lsp.start then
      vim.lsp.start(config, { bufnr = event.buf })
      return
    end
    clients[root] = clients[root] or vim.lsp.start_client(config) -- before Neovim 0.8
    vim.lsp.buf_attach_client(event.buf, clients[root])
  end,
})
