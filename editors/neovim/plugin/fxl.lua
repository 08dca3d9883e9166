-- Starts `fx lsp` for page files, the one of the project's `.venv` before that on the PATH: in
-- folders that are trusted, since the server is, and imports, code of the project.

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

local function always_file()
  return vim.fn.stdpath("data") .. "/fx_trusted"
end

local function is_listed(root)
  local always = always_file()
  local remembered = vim.fn.filereadable(always) == 1 and vim.fn.readfile(always) or {}
  for _, list in ipairs({ vim.g.fx_trusted or {}, remembered }) do
    for _, entry in ipairs(list) do
      local folder = vim.fn.resolve(vim.fn.fnamemodify(vim.fn.expand(entry), ":p"))
      folder = folder:gsub("/+$", "")
      if root == folder or root:sub(1, #folder + 1) == folder .. "/" then
        return true
      end
    end
  end
  return false
end

local answers = {}

-- Whether the code of a project may run. Asked once for each folder in each session.
local function is_trusted(folder)
  local root = vim.fn.resolve(folder)
  if is_listed(root) then
    return true
  end
  if answers[root] == nil then
    local question = "fxtrio: start 'fx lsp' in " .. root .. "? It runs code of the project."
    local choice = vim.fn.confirm(question, "&No\n&This time\n&Always", 1)
    answers[root] = choice == 2 or choice == 3
    if choice == 3 then
      vim.fn.mkdir(vim.fn.fnamemodify(always_file(), ":h"), "p")
      vim.fn.writefile({ root }, always_file(), "a")
    end
  end
  return answers[root]
end

local clients = {}

vim.api.nvim_create_autocmd("FileType", {
  pattern = "fxl",
  callback = function(event)
    local root = root_of(vim.api.nvim_buf_get_name(event.buf))
    if not is_trusted(root) then
      return
    end
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
