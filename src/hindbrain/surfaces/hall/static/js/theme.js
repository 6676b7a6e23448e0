// Theme: put on before the first paint, so that a dark room stays dark. A plain script, for modules run too late for that.
(() => {
  const chosen = /(?:^|; )hall-theme=(\w+)/.exec(document.cookie)?.[1];
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen;
})();
