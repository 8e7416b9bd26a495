// SPDX-License-Identifier: GPL-2.0-or-later
// What pages can do without it is all they need: this renews them in place, and copies.
"use strict";

(function () {
	const RENEW_S = Number(document.currentScript.dataset.renew);

	function addCopyButtons() {
		for (const text of document.querySelectorAll("pre[data-copy]")) {
			const button = document.createElement("button");

			button.type = "button";
			button.textContent = "Copy";
			button.addEventListener("click", async function () {
				try {
					await navigator.clipboard.writeText(text.textContent);
					button.textContent = "Copied";
				} catch (error) {
					getSelection().selectAllChildren(text);
					button.textContent = "Selected: press Ctrl+C";
				}
			});
			text.before(button);
		}
	}

	function isInUse(main) {
		const selection = getSelection();

		return main.contains(document.activeElement) || (!selection.isCollapsed && main.contains(selection.anchorNode));
	}

	function takeOver(main, renewed) {
		const open = Array.from(main.querySelectorAll("details"), (details) => details.open);

		main.innerHTML = renewed.innerHTML;
		main.querySelectorAll("details").forEach((details, i) => {
			if (i < open.length)
				details.open = open[i];
		});
		addCopyButtons();
	}

	async function renew() {
		let again = RENEW_S;

		try {
			const main = document.querySelector("main");
			const answer = document.hidden || isInUse(main) ? null : await fetch(location.href);

			if (answer && answer.ok) {
				const text = await answer.text();
				const page = new DOMParser().parseFromString(text, "text/html");

				document.title = page.title;
				takeOver(main, page.querySelector("main"));
				again = Number(page.querySelector("script").dataset.renew);
			}
		} catch (error) {
			again = Math.max(again, 10);	// the lab does not answer
		}
		if (again)
			setTimeout(renew, again * 1000);
	}

	addCopyButtons();
	if (RENEW_S)
		setTimeout(renew, RENEW_S * 1000);
})();
