// Runs before the first paint, so that a dark page never flashes white. The console's own code takes over afterwards.
;(function () {
  var mode = null
  try {
    mode = localStorage.getItem('theme-mode')
  } catch {
    // Storage may be forbidden; the system's choice then decides.
  }
  var dark = mode === 'dark' || (mode !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
  var root = document.documentElement
  root.classList.add(dark ? 'dark' : 'light')
  root.style.colorScheme = dark ? 'dark' : 'light'
})()
