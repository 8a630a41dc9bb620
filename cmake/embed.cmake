# Turns a text file into a C++ string. Read as hex so that no byte of it needs escaping.
file(READ ${INPUT} hex HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" escaped "${hex}")
# One literal a line of the script would be nicer to read, but compilers limit nothing here and the file is generated.
string(REGEX REPLACE "(\\\\x0a)" "\\1\"\n    \"" escaped "${escaped}")
file(WRITE ${OUTPUT}
  "#include \"trainvigil/wire.hpp\"\n\nnamespace trainvigil {\nstd::string_view probe_script() {\n  static constexpr char text[] =\n    \"${escaped}\";\n  return {text, sizeof text - 1};\n}\n}  // namespace trainvigil\n")
