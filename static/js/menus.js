/** Menus are `<details>` and open without scripts; with them they close as menus do. */

export function startMenus() {
  document.addEventListener("click", ({ target }) => {
    for (const menu of document.querySelectorAll("details.menu[open]")) {
      if (!menu.contains(target)) menu.open = false;
    }
  });
  document.addEventListener("keydown", (event) => {
    const menu = event.target.closest?.("details.menu[open]");
    if (event.key === "Escape" && menu) {
      menu.open = false;
      menu.querySelector("summary").focus();
    }
    if (menu && (event.key === "ArrowDown" || event.key === "ArrowUp") && !event.altKey) step(menu, event);
  });
  document.addEventListener("focusin", ({ target }) => {
    if (target.matches("button.grip")) target.setAttribute("aria-keyshortcuts", "Alt+Shift+ArrowUp Alt+Shift+ArrowDown");
  });
  // A handle that is pressed, not dragged, opens the menu of its row.
  document.addEventListener("click", (event) => {
    const grip = event.target.closest?.("button.grip");
    if (!grip || event.detail !== 0) return;
    const summary = grip.closest("[data-session]").querySelector("summary");
    summary?.click();
    summary?.focus();
  });
}

function step(menu, event) {
  const items = [...menu.querySelectorAll("button, a")].filter((item) => item.checkVisibility());
  const at = items.indexOf(document.activeElement);
  const by = event.key === "ArrowDown" ? 1 : -1;
  const next = at < 0 && by < 0 ? items.length - 1 : (at + by + items.length) % items.length;
  event.preventDefault();
  items[next]?.focus();
}
