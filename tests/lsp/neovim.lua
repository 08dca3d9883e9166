-- What test_neovim.py lets Neovim do: open a page, ask, and write down what it was told.
-- FX_ASKED is a JSON file: { file, out, steps = { { name, method, line, character, … } } }.

local asked = vim.fn.json_decode(vim.fn.readfile(vim.env.FX_ASKED))
local told = { version = vim.version().major * 100 + vim.version().minor, answers = {} }

local function finish()
  vim.fn.writefile({ vim.fn.json_encode(told) }, asked.out)
  vim.cmd("qall!")
end

local function wait(condition)
  return vim.wait(60000, condition, 20)
end

local function request(step)
  local position = { line = step.line, character = step.character }
  local document = { uri = vim.uri_from_bufnr(0) }
  local params = vim.tbl_extend("force", { textDocument = document, position = position }, step.more or {})
  local answers = vim.lsp.buf_request_sync(0, step.method, params, 60000)
  for _, answer in pairs(answers or {}) do
    return answer.result or answer.error or vim.NIL
  end
  return vim.NIL
end

local function problems()
  local found = {}
  for _, one in ipairs(vim.diagnostic.get(0)) do
    table.insert(found, { line = one.lnum, column = one.col, message = one.message })
  end
  return found
end

local steps = {
  -- Until what Neovim shows has so many problems.
  problems = function(step)
    wait(function()
      return #vim.diagnostic.get(0) == step.count
    end)
    return problems()
  end,
  ask = request,
  -- Writes text into a line, as somebody who types does.
  type = function(step)
    vim.api.nvim_buf_set_text(0, step.line, step.from, step.line, step.to, { step.text })
    return vim.api.nvim_buf_get_lines(0, step.line, step.line + 1, false)[1]
  end,
  -- Goes to a place and asks Neovim itself to go to the definition.
  definition = function(step)
    vim.api.nvim_win_set_cursor(0, { step.line + 1, step.column })
    local before = vim.api.nvim_win_get_cursor(0)
    vim.lsp.buf.definition()
    wait(function()
      return vim.api.nvim_win_get_cursor(0)[1] ~= before[1]
    end)
    return { vim.api.nvim_win_get_cursor(0)[1] - 1, vim.api.nvim_get_current_line() }
  end,
  rename = function(step)
    vim.api.nvim_win_set_cursor(0, { step.line + 1, step.column })
    local tick = vim.b.changedtick
    vim.lsp.buf.rename(step.new)
    wait(function()
      return vim.b.changedtick ~= tick
    end)
    return vim.api.nvim_buf_get_lines(0, 0, -1, false)
  end,
  syntax = function(step)
    local half = vim.fn.synstack(step.line + 1, step.column + 1)
    return vim.tbl_map(function(id)
      return vim.fn.synIDattr(id, "name")
    end, half)
  end,
}

local ok, failure = pcall(function()
  vim.cmd("edit " .. vim.fn.fnameescape(asked.file))
  assert(wait(function()
    local _, client = next(vim.lsp.buf_get_clients(0))
    return client ~= nil and client.initialized
  end), "the server has not started")
  for _, step in ipairs(asked.steps) do
    table.insert(told.answers, steps[step.name](step))
  end
end)
if not ok then
  told.failure = tostring(failure)
end
finish()
