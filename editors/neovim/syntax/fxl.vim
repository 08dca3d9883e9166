" Page files of fxtrio: Python, then UI code, in turns. The signs by which a line at column 0
" begins a half are those of fxtrio/compile/split/language_detection.py.

if exists('b:current_syntax')
  finish
endif

syntax include @fxlPython syntax/python.vim
unlet! b:current_syntax
syntax include @fxlUi syntax/typescriptreact.vim
unlet! b:current_syntax

let s:ui = '\v^%(//|/\*|`|;|\{|\<[A-Za-z>/!]'
      \ . '|export%(\s+%(default|const|let|var|function|async|class|abstract|enum|interface|type)>|\s*[{*])'
      \ . '|import\s*%([{*"' . "'" . '(]|type\s|\w+\s*,\s*[{*]|\w+\s+from\s*["' . "'" . '])'
      \ . '|%(const|let|var)\s+[A-Za-z0-9_$[{]|%(async\s+)?function>|class\s+\w+\s*%(\{|extends>)'
      \ . '|%(interface|enum|namespace)\s+\w+|type\s+\w+\s*[<=]|# --- ui ---\s*$)'
let s:python = '\v^%(\@|%(async\s+)?def\s+\w|class\s+\w+\s*[:(\[]|from\s+[0-9A-Za-z_.]+\s+import>'
      \ . '|import\s+\w+\s*%(\.|,\s*\w|as>|#|$)|[A-Z][A-Z0-9_]*\s*%(:[^=]*)?\=[^=>]'
      \ . '|[rRbBuUfF]{0,2}%("""|' . "'''" . '))'

execute 'syntax region fxlPythonHalf keepend start=/\%^/ start=/' . escape(s:python, '/') . '/ end=/'
      \ . escape(s:ui, '/') . '/me=s-1 contains=@fxlPython'
execute 'syntax region fxlUiHalf start=/' . escape(s:ui, '/') . '/ end=/'
      \ . escape(s:python, '/') . '/me=s-1 contains=@fxlUi'

syntax sync fromstart
let b:current_syntax = 'fxl'
