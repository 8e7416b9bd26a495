// SPDX-License-Identifier: GPL-2.0-or-later
// What the browser tests share: Debian's Chromium, pages that are watched, checks of accessibility and HTML, pictures.

import { createRequire } from "node:module";
import assert from "node:assert/strict";
import fs from "node:fs";

const [, , url, top, pictures] = process.argv;
const modules = createRequire(`${top}/build/npm/`);
const { chromium } = modules("playwright-core");
const { HtmlValidate } = modules("html-validate");
const axe = fs.readFileSync(modules.resolve("axe-core/axe.min.js"), "utf8");

export { url, top };

const validator = new HtmlValidate({
	extends: ["html-validate:standard"],
	rules: {
		"void-style": ["error", { style: "selfclose" }],	// pages are XML, too
		"long-title": "off",	// a subject is as long as its author made it
		"no-trailing-whitespace": "off",
		"no-redundant-role": "off",
		"meta-refresh": "off",	// as below
		"prefer-native-element": "off",	// a scrolling region of a table
	},
});

let browser;
const complaints = [];

export async function open(options = {}) {
	browser ??= await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });
	const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, acceptDownloads: true, ...options });
	const page = await context.newPage();
	page.setDefaultTimeout(20000);
	page.on("console", (message) => {
		if (["error", "warning"].includes(message.type()) && !page.expected?.test(message.text()))
			complaints.push(`${page.url()}: console: ${message.text()}`);
	});
	page.on("pageerror", (error) => complaints.push(`${page.url()}: ${error}`));
	page.on("dialog", (dialog) => {
		complaints.push(`${page.url()}: a dialog: ${dialog.message()}`);
		dialog.dismiss();
	});
	page.on("request", (request) => {
		if (!request.url().startsWith(`${url}/`))
			complaints.push(`${page.url()}: asks ${request.url()}`);
	});
	return page;
}

export async function close() {
	await browser?.close();
	assert.deepEqual(complaints, [], "what pages complained of");
}

// Nothing serious, and nothing that a smaller screen cuts off.
export async function accessible(page) {
	await page.evaluate(axe);
	// a page of what goes on renews itself, and without scripts it can in no other way
	const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"],
		rules: { "meta-refresh": { enabled: false } } }));
	const serious = found.violations.filter((violation) => ["serious", "critical", "moderate"].includes(violation.impact));
	assert.deepEqual(serious.map((violation) => `${violation.id}: ${violation.nodes.map((node) => node.html.slice(0, 200)).join(" | ")}`),
		[], `${page.url()}: axe-core`);
	// a phone would make its window as wide as the page: what counts is the screen
	const width = await page.evaluate(() => document.documentElement.scrollWidth);
	assert.ok(width <= page.viewportSize().width, `${page.url()} is ${width} wide, and the screen ${page.viewportSize().width}`);
}

export async function valid(path) {
	const answer = await fetch(url + path);
	const report = await validator.validateString(await answer.text());
	const messages = report.results.flatMap((result) => result.messages);
	assert.deepEqual(messages.map((message) => `${message.line}: ${message.ruleId}: ${message.message}`), [], `${path}: html-validate`);
}

export async function picture(page, name) {
	await page.screenshot({ path: `${pictures}/${name}.png`, fullPage: true });
}

export async function api(method, path, body) {
	const answer = await fetch(`${url}/api/v1${path}`, { method, body });
	return { status: answer.status, ...(await answer.json()) };
}

export function series(subject) {
	return fs.readFileSync(`${top}/tests/series/demo-slower.mbox`, "utf8").replace(/^Subject: .*$/m, `Subject: [PATCH] ${subject}`);
}

// A job whose subject tells the fake stage what to do; gives its number.
export async function submit(subject, more = {}) {
	const form = new FormData();
	for (const [name, value] of Object.entries({ benchmarks: "aging", ...more }))
		form.set(name, value);
	form.set("series", new Blob([series(subject)]), "x.mbox");
	const answer = await api("POST", "/jobs", form);
	assert.equal(answer.status, 202, JSON.stringify(answer));
	return answer.id;
}

export async function wait(job, states) {
	for (let tries = 0; tries < 400; tries++) {
		const { state, final } = await api("GET", `/jobs/${job}`);
		if (states ? states.includes(state) : final)
			return state;
		await new Promise((resolve) => setTimeout(resolve, 50));
	}
	throw new Error(`job ${job} does not get there`);
}
