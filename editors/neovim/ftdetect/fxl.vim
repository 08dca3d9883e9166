autocmd BufNewFile,BufRead *.fxl setfiletype fxl
