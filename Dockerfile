# A classroom's image: the lab, the course and the commands, for one learner (docker run) or behind JupyterHub.
#   docker build --tag rebalance-kit . && docker run --rm --publish 127.0.0.1:8888:8888 --volume "$PWD/course:/srv/learner/course" rebalance-kit
# JupyterHub: set this image; its command is replaced by the hub's (jupyterhub-singleuser is installed).
FROM python:3.12-slim-bookworm
ARG EXTRAS="lab,study,clients"
RUN apt-get update && apt-get install --yes --no-install-recommends bubblewrap && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --home-dir /srv/learner --uid 1000 learner
COPY . /opt/rebalance-kit
RUN pip install --no-cache-dir "/opt/rebalance-kit[${EXTRAS}]" jupyterhub && rm -rf /opt/rebalance-kit
USER learner
WORKDIR /srv/learner
EXPOSE 8888
CMD ["sh", "-c", "rebalance-kit course course && exec jupyter lab --ip=0.0.0.0 --no-browser --ServerApp.root_dir=course --LabApp.default_url=/lab/tree/00-start-here.ipynb"]
