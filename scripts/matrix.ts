import '#test/matrix/index.ts'
